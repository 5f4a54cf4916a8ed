import type { Session } from './session.ts';

/** Where a period ends that has no end yet, as the paper has it (C.1). */
const OPEN_END = '9999-12-31';

/**
 * The columns of the paper's table (Table 2), with the constraints of its Table 12. No other
 * constraint prevents overlaps.
 */
const COLUMNS = `
  fact_id text NOT NULL,
  subject text NOT NULL,
  predicate text NOT NULL,
  object text NOT NULL,
  valid_from timestamptz NOT NULL,
  valid_to timestamptz NOT NULL,
  system_time_start timestamptz NOT NULL,
  system_time_end timestamptz NOT NULL,
  provenance_id text NOT NULL,
  confidence double precision NOT NULL CHECK (confidence BETWEEN 0 AND 1),
  resolution_strategy_id text NOT NULL,
  row_kind text NOT NULL CHECK (row_kind IN ('current', 'audit')),
  PRIMARY KEY (fact_id, system_time_start),
  CHECK (valid_from < valid_to),
  CHECK (system_time_start < system_time_end)`;

const IS_OPEN = `row_kind = 'current' AND system_time_end = '${OPEN_END}'`;

/**
 * A bare table, and another one with guarded open rows: at most one open row per partition, at any
 * level.
 */
export const FACTS = 'facts';
export const GUARDED_FACTS = 'guarded_facts';
export type FactTable = typeof FACTS | typeof GUARDED_FACTS;

/**
 * The bare store: facts, the current fact of each subject, policies, and two judge logs. One judge
 * log has no key.
 */
export async function createFacts(session: Session): Promise<void> {
  await session.rows(`CREATE TABLE ${FACTS} (${COLUMNS})`);
  await session.rows(`CREATE INDEX ON ${FACTS} (subject, predicate)`);
  await session.rows(
    `CREATE TABLE ${GUARDED_FACTS} (${COLUMNS}, EXCLUDE (subject WITH =, predicate WITH =) WHERE (${IS_OPEN}))`,
  );
  await session.rows('CREATE TABLE belief (subject text PRIMARY KEY, fact_id text NOT NULL)');
  await session.rows(
    'CREATE TABLE policy (subject text NOT NULL, rule text NOT NULL, is_primary boolean NOT NULL)',
  );
  await session.rows('CREATE TABLE judge_log (key text PRIMARY KEY, vote integer NOT NULL)');
  await session.rows('CREATE TABLE appended_log (key text NOT NULL, vote integer NOT NULL)');
}

/** An asserted fact, valid from now on without an end. */
export interface AssertedFact {
  readonly fact: string;
  readonly subject: string;
  readonly object: string;
  readonly confidence: number;
  readonly provenance: string;
}

/** All facts here are of one predicate, so that a subject is a partition. */
const PREDICATE = 'medication';

/** Inserts an open row. */
export async function insertFact(
  session: Session,
  said: AssertedFact,
  table: FactTable = FACTS,
): Promise<void> {
  const { fact, subject, object, confidence, provenance } = said;
  await session.rows(
    `INSERT INTO ${table} VALUES ($1, $2, '${PREDICATE}', $3, '2026-01-01', '${OPEN_END}', clock_timestamp(),
     '${OPEN_END}', $4, $5, 'lww', 'current')`,
    [fact, subject, object, provenance, confidence],
  );
}

/** The open rows of a partition, the one with the greatest confidence first. */
export async function openFacts(
  session: Session,
  subject: string,
  table: FactTable = FACTS,
): Promise<readonly AssertedFact[]> {
  const rows = await session.rows(
    `SELECT fact_id, object, confidence, provenance_id FROM ${table}
     WHERE subject = $1 AND predicate = '${PREDICATE}' AND ${IS_OPEN} ORDER BY confidence DESC, fact_id`,
    [subject],
  );
  return rows.map(([fact, object, confidence, provenance]) => ({
    fact: fact!,
    subject,
    object: object!,
    confidence: Number(confidence),
    provenance: provenance!,
  }));
}

/** Closes an open row; how many rows that were. */
export function closeFact(
  session: Session,
  fact: string,
  table: FactTable = FACTS,
): Promise<number> {
  return session.change(
    `UPDATE ${table} SET system_time_end = clock_timestamp() WHERE fact_id = $1 AND ${IS_OPEN}`,
    [fact],
  );
}

/** Writes over one column of an open row, as stores do that keep no versions. */
export async function overwrite(
  session: Session,
  fact: string,
  what: Partial<Pick<AssertedFact, 'confidence' | 'object' | 'provenance'>>,
): Promise<void> {
  const { confidence = null, object = null, provenance = null } = what;
  await session.rows(
    `UPDATE ${FACTS} SET confidence = coalesce($2, confidence), object = coalesce($3, object),
     provenance_id = coalesce($4, provenance_id) WHERE fact_id = $1 AND ${IS_OPEN}`,
    [fact, confidence, object, provenance],
  );
}

/** An audit row. Its witness is the whole losing fact, and its provenance is that of both facts. */
export async function insertAudit(
  session: Session,
  loser: AssertedFact,
  winner: AssertedFact,
): Promise<void> {
  await session.rows(
    `INSERT INTO ${FACTS} VALUES ('audit::' || $1::text || '::' || clock_timestamp(), $2, '${PREDICATE}', $3, '2026-01-01',
     '${OPEN_END}', clock_timestamp(), '${OPEN_END}', $4, $5, 'evi', 'audit')`,
    [
      loser.fact,
      loser.subject,
      JSON.stringify({ loser, winner }),
      `${winner.provenance} + ${loser.provenance}`,
      loser.confidence,
    ],
  );
}

/** The witnesses of the audit rows of a partition. */
export async function audits(
  session: Session,
  subject: string,
): Promise<readonly { loser: AssertedFact; winner: AssertedFact }[]> {
  const rows = await session.rows(
    `SELECT object FROM ${FACTS} WHERE subject = $1 AND row_kind = 'audit'`,
    [subject],
  );
  return rows.map(
    ([witness]) => JSON.parse(witness!) as { loser: AssertedFact; winner: AssertedFact },
  );
}

/** All versions of current rows of a partition, by their facts. */
export async function versions(session: Session, subject: string): Promise<readonly string[]> {
  const rows = await session.rows(
    `SELECT fact_id FROM ${FACTS} WHERE subject = $1 AND row_kind = 'current'`,
    [subject],
  );
  return rows.map(([fact]) => fact!);
}
