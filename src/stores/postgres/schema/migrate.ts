import { StoreError } from '../../errors.ts';
import { overlappingError } from '../../facts.ts';
import type { OpenMode } from '../../options.ts';
import type { Session } from '../connection/session.ts';
import { indexTexts, wordsAnew } from '../facts/texts.ts';
import { overlapping } from '../self-check.ts';
import { APPLICATION_ID, ledger } from './0001-ledger.ts';
import { log } from './0002-log.ts';
import { snapshots } from './0003-snapshots.ts';
import { erased } from './0004-erased.ts';
import { effects } from './0005-effects.ts';
import { members } from './0006-members.ts';
import { parting } from './0007-parting.ts';
import { facts } from './0008-facts.ts';
import { branches } from './0009-branches.ts';
import { texts } from './0010-texts.ts';
import { erasedAnswers } from './0011-erased-answers.ts';
import { factChange } from './0012-fact-change.ts';
import { stopWords } from './0013-stop-words.ts';
import { heldTexts } from './0014-held-texts.ts';
import { factContent } from './0015-fact-content.ts';
import { factRows } from './0016-fact-rows.ts';
import { factReads } from './0017-fact-reads.ts';
import { scrub } from './0018-scrub.ts';
import { apart } from './0019-apart.ts';
import { words } from './0020-words.ts';
import { leftAgain } from './0021-left-again.ts';
import { statesPlannedOnce } from './0022-states-planned-once.ts';
import { awaitedFacts } from './0023-awaited-facts.ts';

// In order, never edited once released: migration n leads from schema n - 1 to schema n.
const MIGRATIONS: readonly string[] = [
  ledger,
  log,
  snapshots,
  erased,
  effects,
  members,
  parting,
  facts,
  branches,
  texts,
  erasedAnswers,
  factChange,
  stopWords,
  heldTexts,
  factContent,
  factRows,
  factReads,
  scrub,
  apart,
  words,
  leftAgain,
  statesPlannedOnce,
  awaitedFacts,
];

/** The migration with which facts are indexed by their words, which only the program can make. */
const TEXTS = MIGRATIONS.indexOf(texts) + 1;

/** The latest migration with which they are found by other words than before. */
const WORDS = MIGRATIONS.indexOf(words) + 1;

/** The migration from which on the server itself keeps facts apart: what overlapped before would stay. */
const APART = MIGRATIONS.indexOf(apart) + 1;

/** The schema this program reads and writes; in the table `mark`. */
export const SCHEMA_VERSION: number = MIGRATIONS.length;

/** What is under the store's name in the database. */
export type Mark =
  /** Nothing, or an empty schema. */
  | { readonly is: 'absent' | 'empty' }
  /** Something that is no store. */
  | { readonly is: 'foreign' }
  | { readonly is: 'ours'; readonly version: number };

/** Reads whose schema it is without changing anything. */
export async function readMark(session: Session, schema: string): Promise<Mark> {
  const [found] = await session.run({ text: LOOK }, [schema]);
  if (found === undefined) return { is: 'absent' };
  const [things, columns] = found;
  if (Number(things) === 0) return { is: 'empty' };
  if (Number(columns) !== 2) return { is: 'foreign' };
  const rows = await session.run({ text: `SELECT application, version FROM "${schema}".mark` });
  const [application, version] = rows[0] ?? [];
  return rows.length === 1 && application === 'assize' ? { is: 'ours', version: Number(version) } : { is: 'foreign' };
}

/** Throws unless a store of that mark can be used in that mode, after a migration where it needs one. */
export function checkMark(mark: Mark, path: string, mode: OpenMode): void {
  if (mark.is === 'foreign') {
    throw new StoreError(
      'store_not_ours',
      `${path} has tables of another program; nothing was changed, name another schema with ?schema= in the URL.`,
      { evidence: { path } },
    );
  }
  if (mark.is !== 'ours') {
    if (mode === 'create') return;
    throw new StoreError(
      'store_not_found',
      `There is no store at ${path}; check the URL, or open it with mode create.`,
      { evidence: { path } },
    );
  }
  const evidence = { path, schema: mark.version, supported: SCHEMA_VERSION };
  if (mark.version > SCHEMA_VERSION) {
    throw new StoreError(
      'store_newer_schema',
      `${path} has schema ${mark.version} and this version of Assize knows ${SCHEMA_VERSION}; open it with a newer Assize.`,
      { evidence },
    );
  }
  if (mark.version < SCHEMA_VERSION && mode === 'readonly') {
    throw new StoreError(
      'store_older_schema',
      `${path} has schema ${mark.version} and this version of Assize reads ${SCHEMA_VERSION}; open it once for writing, which migrates it.`,
      { evidence },
    );
  }
}

/**
 * Brings the store to `SCHEMA_VERSION` in one transaction, one program at a time.
 *
 * @throws {StoreError} as `checkMark` does, and `store_corrupt` where facts overlap that may not
 */
export async function migrate(session: Session, schema: string, path: string, mode: OpenMode): Promise<void> {
  // Whatever the server's default is: what is read after the lock must be what is there then.
  await session.run({ text: 'BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = 0' });
  try {
    await session.run({ text: 'SELECT pg_advisory_xact_lock($1, hashtext($2))' }, [APPLICATION_ID, schema]);
    // Again, now that no one else migrates: another program may have, while this one waited for the lock.
    const mark = await readMark(session, schema);
    checkMark(mark, path, mode);
    await session.run({ text: migrations(mark, schema).join('\n') });
    if (mark.is === 'ours' && mark.version < TEXTS) await indexTexts(session, schema);
    else if (mark.is === 'ours' && mark.version < WORDS) await wordsAnew(session, schema);
    if (mark.is === 'ours' && mark.version < APART) await requireApart(session, schema, path);
    await session.run({ text: 'COMMIT' });
  } catch (error) {
    if (session.isOpen) await session.run({ text: 'ROLLBACK' });
    throw error;
  }
}

/** @throws {StoreError} */
async function requireApart(session: Session, schema: string, path: string): Promise<void> {
  const found = await session.run(overlapping(schema));
  if (found.length > 0)
    throw overlappingError(
      path,
      found.map(([name]) => name!),
    );
}

/** The statements, of one transaction, that bring a store to `SCHEMA_VERSION`; tests also make one of an older version by them. */
export function migrations(mark: Mark, schema: string, to: number = SCHEMA_VERSION): string[] {
  const from = mark.is === 'ours' ? mark.version : 0;
  if (from === to) return [];
  return [
    // Not IF NOT EXISTS, which needs the right to create one also where there is one.
    ...(mark.is === 'absent' ? [`CREATE SCHEMA "${schema}";`] : []),
    `SET LOCAL search_path TO "${schema}", pg_temp;`,
    // As pg_dump has it: to compile functions that later migrations replace is a fifth of what an empty schema takes.
    'SET LOCAL check_function_bodies = off;',
    ...(from === 0 ? ['CREATE TABLE mark (application TEXT NOT NULL, version INTEGER NOT NULL);'] : []),
    ...(from === 0 ? ["INSERT INTO mark VALUES ('assize', 0);"] : []),
    ...MIGRATIONS.slice(from, to),
    `UPDATE mark SET version = ${to};`,
  ];
}

const LOOK = `
SELECT
  (SELECT count(*) FROM pg_class WHERE relnamespace = n.oid) +
  (SELECT count(*) FROM pg_proc WHERE pronamespace = n.oid) +
  (SELECT count(*) FROM pg_type WHERE typnamespace = n.oid),
  (SELECT count(*) FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
    WHERE c.relnamespace = n.oid AND c.relname = 'mark' AND a.attname IN ('application', 'version') AND NOT a.attisdropped)
FROM pg_namespace AS n WHERE n.nspname = $1`;
