import { sha256 } from '../bytes/hash.ts';
import { hexOf } from '../bytes/text.ts';
import { isCount, isHash, isInstant, isObject } from '../entries/basic-forms.ts';
import type { Files } from './files.ts';
import { type Findings, Unreadable } from './findings.ts';
import { hasJust, readJson } from './json-file.ts';
import { isScope, type Scope } from './scope.ts';

export interface Manifest {
  readonly made_at: string;
  readonly scope: Scope;
  readonly in_scope: readonly string[];
  readonly entries: number;
  readonly files: Readonly<Record<string, { readonly bytes: number; readonly sha256: string }>>;
}

const NAME = 'manifest.json';
const NOT_LISTED = [NAME, 'verify.html'];
const REQUIRED = ['entries.jsonl', 'checkpoint', 'keys.json', 'records.json', 'README.txt'];
const MEMBERS = ['entries', 'files', 'format', 'in_scope', 'made_at', 'scope'];
const ENTRIES_MAX = 10_000;

/** The manifest of a bundle (format's reference, section 2). @throws Unreadable */
export function readManifest(files: Files): Manifest {
  const value = readJson(files, NAME, 'bad_manifest');
  if (!isObject(value) || !hasJust(value, MEMBERS)) throw bad('has other members than it should');
  const { format, made_at: madeAt, scope, in_scope: inScope, entries, files: listed } = value;
  if (format !== 'assize/proof-bundle/v1') throw bad('is not of the format assize/proof-bundle/v1');
  if (!isInstant(madeAt)) throw bad('has no time');
  if (!isScope(scope)) throw bad('has no scope of a known form');
  if (!Array.isArray(inScope) || !inScope.every(isHash) || inScope.length === 0)
    throw bad('has no entry in scope');
  if (!isCount(entries) || entries < 1 || entries > ENTRIES_MAX)
    throw bad('has no number of entries, from 1 to 10,000');
  if (!isObject(listed) || !Object.values(listed).every(isListed))
    throw bad('has a list of files of another form');
  return value as unknown as Manifest;
}

/** Compares the files with the sizes and hashes in the manifest, in both directions. */
export function checkFiles(files: Files, { files: listed }: Manifest, findings: Findings): void {
  const names = [...files.keys()].filter((name) => !NOT_LISTED.includes(name));
  for (const name of names)
    if (!Object.hasOwn(listed, name))
      findings.fault('bad_manifest', `The file ${name} is not in the manifest.`);
  for (const name of REQUIRED)
    if (!Object.hasOwn(listed, name))
      findings.fault('bad_manifest', `The manifest does not list the file ${name}.`);
  for (const [name, { bytes, sha256: hash }] of Object.entries(listed)) {
    const content = NOT_LISTED.includes(name) ? undefined : files.get(name);
    if (content === undefined) findings.fault('bad_manifest', `The file ${name} is missing.`);
    else {
      const isEqual = content.length === bytes && hexOf(sha256(content)) === hash;
      findings.checked(
        'files',
        'file_differs',
        isEqual ? '' : `The file ${name} is not the one of the manifest.`,
      );
    }
  }
}

function isListed(value: unknown): boolean {
  return (
    isObject(value) &&
    hasJust(value, ['bytes', 'sha256']) &&
    isCount(value['bytes']) &&
    isHash(value['sha256'])
  );
}

function bad(predicate: string): Unreadable {
  return new Unreadable('bad_manifest', `The manifest ${predicate}.`);
}
