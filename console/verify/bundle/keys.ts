import { isSame } from '../bytes/canonical.ts';
import { isHash, isObject } from '../entries/basic-forms.ts';
import { LOG_TYPE, type NoteKey, readKey, WITNESS_TYPE } from '../log/key.ts';
import type { Files } from './files.ts';
import { type Findings, Unreadable } from './findings.ts';
import { hasJust, readJson } from './json-file.ts';
import type { LedgerPart } from './ledger-part.ts';

/** The public keys that came with a bundle. They prove nothing alone. */
export interface Keys {
  readonly log: NoteKey;
  readonly witnesses: readonly NoteKey[];
  readonly entries: readonly string[];
  readonly writs: readonly string[];
}

/** The keys of `keys.json` (format's reference, section 5). @throws Unreadable */
export function readKeys(files: Files): Keys {
  const value = readJson(files, 'keys.json', 'bad_form');
  if (!isObject(value) || !hasJust(value, ['entries', 'log', 'witnesses', 'writs']))
    throw bad('has other members');
  const { log, witnesses, entries, writs } = value;
  const logKey = keyOf(log, LOG_TYPE);
  if (!Array.isArray(witnesses) || !isHashes(entries) || !isHashes(writs))
    throw bad('has a list of another form');
  if (new Set(witnesses).size < witnesses.length) throw bad('names a witness twice');
  return {
    log: logKey,
    witnesses: witnesses.map((text) => keyOf(text, WITNESS_TYPE)),
    entries,
    writs,
  };
}

/** Compares the keys that sign entries and writs with those of the entries. */
export function checkKeys(
  keys: Keys,
  part: LedgerPart,
  issuers: readonly string[],
  findings: Findings,
): void {
  const signers = new Set(
    part.entries.flatMap(({ payload: { signature } }) => signature?.key ?? []),
  );
  if (!isSame(keys.entries, [...signers].sort()))
    findings.fault('keys_differ', 'keys.json names other keys than those that signed the entries.');
  if (!isSame(keys.writs, issuers))
    findings.fault(
      'keys_differ',
      'keys.json names other issuers than those of the writs without a parent.',
    );
}

function isHashes(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isHash);
}

function keyOf(text: unknown, type: number): NoteKey {
  const key = typeof text === 'string' ? readKey(text) : undefined;
  if (key?.type !== type) throw bad('has a key of another form');
  return key;
}

function bad(predicate: string): Unreadable {
  return new Unreadable('bad_form', `The file keys.json ${predicate}.`);
}
