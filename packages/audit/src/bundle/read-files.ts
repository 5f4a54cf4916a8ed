import { isAssizeError, type Json } from 'assize/internal/base';
import {
  DEFAULT_LIMITS,
  hashBytes,
  isInstant,
  parseCanonical,
  WORLD_LIMITS,
} from 'assize/internal/canon';
import { isHash } from 'assize/internal/ledger';
import { must } from './fault.ts';
import {
  BUNDLE_ENTRIES_MAX,
  BUNDLE_FORMAT,
  type BundleFiles,
  type BundleKeys,
  type BundleManifest,
  hasJust,
  KEYS,
  MANIFEST,
  PAGE,
  REQUIRED,
} from './form.ts';
import { scopeFault } from './scope-form.ts';

/** The manifest, and that all files are as it says. @throws BundleRefusal */
export function readManifest(files: BundleFiles): BundleManifest {
  const value = readJson(files, MANIFEST);
  must(isManifest(value), 'bad_manifest', 'manifest.json is not of the form of a manifest');
  const listed = new Set(Object.keys(value.files));
  const absent = [...REQUIRED, ...listed].find((name) => !files.has(name));
  must(absent === undefined, 'bad_manifest', `the file ${absent} is missing`);
  const unlisted = [...files.keys()].find(
    (name) => name !== MANIFEST && name !== PAGE && !listed.has(name),
  );
  must(unlisted === undefined, 'bad_manifest', `the manifest does not name the file ${unlisted}`);
  for (const [name, { bytes, sha256 }] of Object.entries(value.files)) {
    const file = files.get(name) as Uint8Array;
    must(
      file.length === bytes && Buffer.from(hashBytes(file)).toString('hex') === sha256,
      'file_differs',
      `${name} is not as in the manifest`,
    );
  }
  return value;
}

/** @throws BundleRefusal */
export function readKeys(files: BundleFiles): BundleKeys {
  const value = readJson(files, KEYS);
  const lists = ['witnesses', 'entries', 'writs'];
  const keys = value as unknown as BundleKeys & Readonly<Record<string, unknown>>;
  const isSound =
    hasJust(value, ['log', ...lists]) &&
    typeof keys.log === 'string' &&
    lists.every((name) => isListOf(keys[name], (item) => typeof item === 'string'));
  must(isSound, 'bad_form', 'keys.json is not of its form');
  return keys;
}

/** A JSON file: canonical text and one newline. @throws BundleRefusal */
export function readJson(files: BundleFiles, name: string): Json {
  const code = name === MANIFEST ? 'bad_manifest' : 'bad_form';
  const bytes = files.get(name);
  must(bytes !== undefined, 'bad_manifest', `the file ${name} is missing`);
  const text = textOf(bytes);
  must(text?.endsWith('\n') === true, code, `${name} is not text that ends with a newline`);
  const value = canonical(text.slice(0, -1));
  must(value !== undefined, code, `${name} is not canonical JSON`);
  return value;
}

/** The text of UTF-8 bytes. Undefined for other bytes. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The value of a canonical text. Undefined for another text. */
export function canonical(
  text: string,
  depthMax: number = DEFAULT_LIMITS.depthMax,
): Json | undefined {
  try {
    return parseCanonical(text, { ...WORLD_LIMITS, depthMax });
  } catch (error) {
    if (isAssizeError(error)) return undefined;
    throw error;
  }
}

function isManifest(value: unknown): value is BundleManifest {
  if (!hasJust(value, ['format', 'made_at', 'scope', 'in_scope', 'entries', 'files'])) return false;
  const { format, made_at, scope, in_scope, entries, files } = value as BundleManifest;
  const isCounted = Number.isSafeInteger(entries) && entries >= 1 && entries <= BUNDLE_ENTRIES_MAX;
  const isNamed = isListOf(in_scope, isHash) && in_scope.length > 0;
  const isTimed = typeof made_at === 'string' && isInstant(made_at);
  return (
    format === BUNDLE_FORMAT &&
    isTimed &&
    scopeFault(scope) === undefined &&
    isNamed &&
    isCounted &&
    areFiles(files)
  );
}

function areFiles(files: unknown): boolean {
  if (typeof files !== 'object' || files === null || Array.isArray(files)) return false;
  return Object.entries(files as BundleManifest['files']).every(
    ([name, file]) =>
      name !== MANIFEST &&
      name !== PAGE &&
      hasJust(file, ['bytes', 'sha256']) &&
      Number.isSafeInteger(file.bytes) &&
      isHash(file.sha256),
  );
}

function isListOf(value: unknown, is: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(is);
}
