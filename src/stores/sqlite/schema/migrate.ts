import type { DatabaseSync } from 'node:sqlite';
import { OPEN_START, wordsOfDocument } from '#memory';
import { overlappingError } from '../../facts.ts';
import { storedWords } from '../facts/new-texts.ts';
import { prefixOfBytes } from '../ledger/hash-index.ts';
import { prepareOverlapping } from '../self-check.ts';
import { ledger } from './0001-ledger.ts';
import { log } from './0002-log.ts';
import { snapshots } from './0003-snapshots.ts';
import { erased } from './0004-erased.ts';
import { effects } from './0005-effects.ts';
import { firstRecord } from './0006-first-record.ts';
import { facts } from './0007-facts.ts';
import { hashIndex } from './0008-hash-index.ts';
import { branches } from './0009-branches.ts';
import { texts } from './0010-texts.ts';
import { scrub } from './0011-scrub.ts';
import { erasedAnswers } from './0012-erased-answers.ts';
import { longObjects } from './0013-long-objects.ts';
import { stopWords } from './0014-stop-words.ts';
import { rowsInOrder } from './0015-rows-in-order.ts';
import { endsBesideRows } from './0016-ends-beside-rows.ts';
import { textsByPartition } from './0017-texts-by-partition.ts';
import { apart } from './0018-apart.ts';
import { words } from './0019-words.ts';
import { awaitedFacts } from './0020-awaited-facts.ts';

/** `ASZE`, at offset 68 of the file: how a file says that it is an Assize store. */
export const APPLICATION_ID = 0x41535a45;

// In order, never edited once released: migration n leads from schema n - 1 to schema n.
const MIGRATIONS: readonly string[] = [
  ledger,
  log,
  snapshots,
  erased,
  effects,
  firstRecord,
  facts,
  hashIndex,
  branches,
  texts,
  scrub,
  erasedAnswers,
  longObjects,
  stopWords,
  rowsInOrder,
  endsBesideRows,
  textsByPartition,
  apart,
  words,
  awaitedFacts,
];

/** The migration from which on the file itself keeps facts apart: what overlapped before would stay. */
const APART = MIGRATIONS.indexOf(apart) + 1;

/** The schema this program reads and writes; `user_version` in the file. */
export const SCHEMA_VERSION: number = MIGRATIONS.length;

/** What a file says it is. */
export interface Mark {
  readonly applicationId: number;
  readonly version: number;
}

/** The file's mark; SQLite's own error where the file is no database. */
export function readMark(db: DatabaseSync): Mark {
  return {
    applicationId: Number(db.prepare('PRAGMA application_id').get()?.['application_id']),
    version: Number(db.prepare('PRAGMA user_version').get()?.['user_version']),
  };
}

/**
 * Brings an empty file, or one with an older schema, to `SCHEMA_VERSION` in one transaction; tests also to an older one.
 *
 * @throws {StoreError} `store_corrupt` where facts overlap that may not
 */
export function migrate(db: DatabaseSync, to: number = SCHEMA_VERSION): void {
  db.function('hash_prefix', { deterministic: true }, (hash) => prefixOfBytes(hash as Uint8Array));
  // Migration 0014 adds nothing by itself: 0019 makes all words anew.
  db.function('stop_words_of', { deterministic: true, varargs: true }, () => '');
  db.function('words_anew', { deterministic: true }, wordsAnew as (...given: unknown[]) => string | null);
  // A table that is renamed takes the place of one that views are of, and views that others have made would refuse it meanwhile.
  db.exec('PRAGMA legacy_alter_table = ON');
  try {
    db.exec('BEGIN IMMEDIATE');
    // Read inside the transaction: another process may have migrated while this one waited for the lock.
    const { version } = readMark(db);
    if (version >= to) return;
    for (const migration of MIGRATIONS.slice(version, to)) db.exec(migration);
    if (version < APART && to >= APART) requireApart(db);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${to}; COMMIT`);
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK');
    db.exec('PRAGMA legacy_alter_table = OFF');
  }
}

/** @throws {StoreError} */
function requireApart(db: DatabaseSync): void {
  const found = prepareOverlapping(db)().map(({ name }) => String(name));
  if (found.length > 0) throw overlappingError(db.location() ?? ':memory:', found);
}

/** Words as `fact_words` has them (`TextWriter`), of a text that had others; null where it had just these. */
function wordsAnew(
  stored: string,
  space: number,
  subject: string,
  predicate: string,
  object: string,
  day: string,
  audit: number,
): string | null {
  const asserted_from = day === '' ? OPEN_START : `${day}T00:00:00.000000Z`;
  const row_kind = audit === 0 ? 'current' : 'audit';
  const words = storedWords(space, wordsOfDocument({ subject, predicate, object, asserted_from, row_kind }));
  return words === stored ? null : words;
}
