import { readFileSync } from 'node:fs';
import type { WritChain } from 'assize/host';
import { isAssizeError } from 'assize/internal/base';
import { assertPublicKey, canonicalize, parseStrict } from 'assize/internal/canon';
import { anchorsFile } from 'assize/internal/config';
import { CliError } from '../errors.ts';
import { unreadable } from '../files/file-faults.ts';
import { replaceFile } from '../files/replace-file.ts';
import { whileBlocked } from '../terminal/interrupt.ts';
import { rootKeyInEnvironment } from './root-key.ts';

/** A writer of the file can grant authority. */
const ANCHORS_MODE = 0o644;

/**
 * The anchors of a store: root writs of these public keys count. They are configuration, never read
 * from the ledger. By default they are a JSON list in a file next to the store, which `demo` and
 * `adjudicate` maintain. A writer of that file can grant authority.
 */
export function anchorsPath(storeUrl: string): string | undefined {
  return anchorsFile(storeUrl);
}

/**
 * The anchors of `file`, or of the store's own file and the root key of the environment. A missing
 * own file means no anchors.
 * @throws CliError; ConfigError `bad_key`
 */
export function readAnchors(storeUrl: string, file?: string): readonly string[] {
  const root = file === undefined ? rootKeyInEnvironment(storeUrl) : undefined;
  const listed = listedAnchors(storeUrl, file);
  return root === undefined ? listed : [...new Set([...listed, root.publicKey])];
}

function listedAnchors(storeUrl: string, file?: string): readonly string[] {
  const path = file ?? anchorsPath(storeUrl);
  if (path === undefined) return [];
  let text: Uint8Array;
  try {
    text = whileBlocked(() => readFileSync(path));
  } catch (error) {
    if (file === undefined && (error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw unreadable('The anchors', error, { path, hint: 'Name a JSON list of public keys' });
  }
  return anchorsOf(text, path);
}

/**
 * Without anchors no writ counts, and the runtime could only report that the proposal is not
 * authorised now.
 *
 * @throws CliError `usage`
 */
export function requireAnchors(storeUrl: string, file: string | undefined): void {
  if (readAnchors(storeUrl, file).length > 0) return;
  const place = file ?? anchorsPath(storeUrl);
  throw new CliError(
    'usage',
    `The store has no root public keys${place === undefined ? '' : `: ${place} is missing or empty`}. Pass --anchors FILE.`,
  );
}

/**
 * Refuses a writ under a root key that is not an anchor, because no proposal with it would count.
 *
 * @throws CliError `usage`
 */
export function requireAnchored(
  storeUrl: string,
  file: string | undefined,
  { writ, chain = [] }: WritChain,
): void {
  const { issuer } = chain.at(-1) ?? writ;
  if (readAnchors(storeUrl, file).includes(issuer)) return;
  throw new CliError(
    'usage',
    `The writ of ${writ.subject} has the root key ${issuer}, but ${file ?? anchorsPath(storeUrl) ?? 'the anchors'} does not. Pass a writ of this store, or name its anchors with --anchors FILE.`,
  );
}

/** Adds keys to the store's own file, and keeps the earlier keys. A store in memory has no file. */
export function writeAnchors(storeUrl: string, keys: readonly string[]): void {
  const path = anchorsPath(storeUrl);
  if (path === undefined) return;
  const all = [...new Set([...listedAnchors(storeUrl), ...keys])];
  // A partial list would remove authority.
  replaceFile(path, `${canonicalize(all)}\n`, ANCHORS_MODE);
}

function anchorsOf(text: Uint8Array, path: string): readonly string[] {
  try {
    const keys = parseStrict(text);
    if (!Array.isArray(keys)) throw new CliError('bad_input', 'it is not a list');
    for (const key of keys) assertPublicKey(key);
    return keys as string[];
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    throw new CliError(
      'bad_input',
      `${path} must be a JSON list of public keys: ${error.message}`,
      { cause: error },
    );
  }
}
