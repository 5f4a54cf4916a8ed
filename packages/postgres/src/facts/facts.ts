import type {
  BranchPartition,
  BranchPartitionQuery,
  FactQuery,
  FactVersion,
  FactWrite,
  Hash,
  PartitionName,
  PartitionState,
} from 'assize/internal/ledger';
import { OPEN_END, OpenSet } from 'assize/internal/memory';
import { brokenOrder, incompleteError, judgeFacts, openKey } from 'assize/internal/stores/facts.ts';
import type { RebuildSteps } from 'assize/internal/stores/rebuild.ts';
import type { Row } from '../connection/driver.ts';
import type { Readers, ReadRequest } from '../connection/readers.ts';
import { bytea } from '../connection/row.ts';
import type { Session, Statement } from '../connection/session.ts';
import type { WriteSession } from '../connection/write-session.ts';
import { FactPlan, hashOf, prepareFactStates } from './fact-plan.ts';
import type { PartitionCache } from './partition-cache.ts';

/** The maximum number of rows of each table that a transaction deletes. */
const DELETED_MAX = 5_000;

/**
 * The current facts of one partition, cached for a later change. `path` names the store in errors.
 */
export function preparePartition(
  readers: Readers,
  schema: string,
  path: string,
  known: PartitionCache | undefined,
): (name: PartitionName) => Promise<PartitionState | undefined> {
  // One statement, to read one snapshot. Incomplete facts also return a row.
  const statement: Statement = {
    name: 'assize partition',
    text: `SELECT r.whole, ${ROW}, encode(p.names, 'hex'), p.names_bytes, p.version, p.latest, p.since,
      p.several, r.run
      FROM "${schema}".fact_rebuild AS r LEFT JOIN "${schema}".fact_partition AS p ON p.hash = $1
      LEFT JOIN "${schema}".fact AS f ON f.key = p.key AND NOT f.audit AND f.system_end = '${OPEN_END}'
      ORDER BY f.valid_from, f.fact_id, f.system_start`,
  };
  return async (name) => {
    const rows = await readers.run(statement, [bytea(hashOf(name))]);
    requireWhole(rows, path);
    const [first] = rows as [Row];
    const told = first.slice(-7) as [Hash | null, string, string, string, string, string, string];
    const [hash, bytes, version, latest, told_since, several, run] = told;
    const since = name.branch === undefined ? undefined : told_since;
    if (hash === null) {
      known?.set(Number(run), name, undefined);
      return undefined;
    }
    const open = rows.filter((row) => row[1] !== null).map((row) => versionOf(row, name));
    const state = { names: { hash, bytes: Number(bytes) }, version: Number(version), latest };
    known?.set(Number(run), name, {
      ...state,
      several: several === 't',
      since,
      open: new OpenSet(open.map(openKey)),
    });
    return { ...state, open, ...(since !== undefined && { since }) };
  };
}

/** Same as `FactStore.facts`, with the defaults filled in. */
export function prepareFacts(
  readers: ReadRequest,
  schema: string,
  path: string,
): (query: FactQuery & { readonly limit: number }) => Promise<FactVersion[]> {
  return async (query) => {
    const { space, branch } = query;
    const { statement, values } = search(query, schema);
    const rows = await readers.run(statement, values);
    requireWhole(rows, path);
    return rows
      .filter((row) => row[1] !== null)
      .map((row) => {
        const names = { space, subject: row.at(-2)!, predicate: row.at(-1)! };
        return versionOf(row, branch === undefined ? names : { ...names, branch });
      });
  };
}

/** The spaces that have facts, in code-point order. */
export function prepareSpaces(
  readers: Readers,
  schema: string,
  path: string,
): () => Promise<string[]> {
  const statement: Statement = {
    name: 'assize spaces',
    text: `SELECT r.whole, x.space FROM "${schema}".fact_rebuild AS r
      LEFT JOIN (SELECT DISTINCT space FROM "${schema}".fact_partition WHERE branch = '') AS x ON true ORDER BY x.space`,
  };
  return async () => {
    const rows = await readers.run(statement);
    requireWhole(rows, path);
    return rows.flatMap(([, space]) => (space === null ? [] : [space!]));
  };
}

/** Same as `FactStore.branches`. */
export function prepareBranches(
  readers: Readers,
  schema: string,
  path: string,
): () => Promise<{ readonly space: string; readonly branch: string }[]> {
  const statement: Statement = {
    name: 'assize branches',
    text: `SELECT r.whole, x.space, x.branch FROM "${schema}".fact_rebuild AS r
      LEFT JOIN (SELECT DISTINCT space, branch FROM "${schema}".fact_partition WHERE branch <> '') AS x ON true
      ORDER BY x.space, x.branch`,
  };
  return async () => {
    const rows = await readers.run(statement);
    requireWhole(rows, path);
    return rows.flatMap(([, space, branch]) =>
      space === null ? [] : [{ space: space!, branch: branch! }],
    );
  };
}

/** Same as `FactStore.branchPartitions`, with the defaults filled in. */
export function prepareBranchPartitions(
  readers: ReadRequest,
  schema: string,
  path: string,
): (query: BranchPartitionQuery & { readonly limit: number }) => Promise<BranchPartition[]> {
  return async ({ space, branch, subject, predicate, after, limit }) => {
    const values: unknown[] = [];
    const given = (value: unknown): string => `$${values.push(value)}`;
    const name = given(branch);
    const where = [`left(p.branch, 200) = left(${name}, 200) AND p.branch = ${name}`];
    where.push(`p.branch <> '' AND p.space = ${given(space)}`);
    if (subject !== undefined) where.push(`p.subject = ${given(subject)}`);
    if (predicate !== undefined) where.push(`p.predicate = ${given(predicate)}`);
    if (after !== undefined)
      where.push(`(p.subject, p.predicate) > (${given(after.subject)}, ${given(after.predicate)})`);
    const text = `SELECT r.whole, x.* FROM "${schema}".fact_rebuild AS r LEFT JOIN LATERAL (
        SELECT p.subject, p.predicate, p.since FROM "${schema}".fact_partition AS p WHERE ${where.join(' AND ')}
        ORDER BY p.subject, p.predicate LIMIT ${given(limit)}
      ) AS x ON true ORDER BY x.subject, x.predicate`;
    const rows = await readers.run({ text }, values);
    requireWhole(rows, path);
    return rows
      .filter((row) => row[1] !== null)
      .map((row) => ({ space, subject: row[1]!, predicate: row[2]!, branch, since: row[3]! }));
  };
}

/** The key of claims, if a key was ever offered. */
export function prepareClaimKey(
  readers: Readers,
  schema: string,
): () => Promise<Uint8Array | undefined> {
  const select = selectClaimKey(schema);
  return async () => claimKeyOf(await readers.run(select));
}

/**
 * Returns the stored key of claims. If the store has no key, it stores and returns the offered one.
 */
export function prepareOfferClaimKey(
  schema: string,
): (key: Uint8Array) => (session: Session) => Promise<Uint8Array> {
  const select = selectClaimKey(schema);
  const insert: Statement = {
    name: 'assize offer claim key',
    text: `INSERT INTO "${schema}".fact_claim_key VALUES (1, $1::bytea) ON CONFLICT DO NOTHING`,
  };
  return (key) => async (session) => {
    await session.run(insert, [bytea(Buffer.from(key).toString('hex'))]);
    return claimKeyOf(await session.run(select)) as Uint8Array;
  };
}

function selectClaimKey(schema: string): Statement {
  return {
    name: 'assize claim key',
    text: `SELECT encode(key, 'hex') FROM "${schema}".fact_claim_key`,
  };
}

function claimKeyOf([row]: readonly Row[]): Uint8Array | undefined {
  return row === undefined ? undefined : new Uint8Array(Buffer.from(row[0] as string, 'hex'));
}

/** A rebuild, and the number of parts that were sent. */
interface Run {
  readonly number: number;
  parts: number;
}

/** The steps of a rebuild of the facts. Every step can be sent again if its connection is lost. */
export function rebuildSteps(
  group: () => WriteSession,
  schema: string,
  path: string,
): RebuildSteps<Run> {
  const states = prepareFactStates(schema);
  const part: Statement = {
    name: 'assize append rebuilt facts',
    text: `SELECT "${schema}".take_in_facts($1, $2, $3, $4, $5, $6, $7, $8)`,
  };
  const call = (text: string, values: unknown[]): Promise<string | null> =>
    group().run(called(schema, text, values));
  const requireMine = (answer: string | null): void => {
    if (answer === null || answer === 'f') throw incompleteError(path);
  };
  return {
    begin: async () => ({ number: Number(await call('begin_facts()', [])), parts: 0 }),
    deleteSome: async ({ number }) => {
      const deleted = await call('delete_facts($1, $2)', [number, DELETED_MAX]);
      requireMine(deleted);
      return Number(deleted) > 0;
    },
    takeIn: async (writes, run) => {
      run.parts += 1;
      const { number, parts } = run;
      const taken = await group().run(async (session) => {
        const plan = await FactPlan.asked({ writes, repeats: [] }, session, states, path);
        if (plan.run !== number) throw incompleteError(path);
        // The part was sent before, and only the answer was lost.
        if (plan.parts >= parts) return 't';
        for (const write of writes) takeIn(plan, write);
        return (await session.run(part, [number, parts, ...plan.values()]))[0]![0]!;
      });
      requireMine(taken);
    },
    end: async ({ number }) => requireMine(await call('end_facts($1)', [number])),
  };
}

/** Same as `FactStore.keepFacts`. */
export function keepFacts(schema: string): (session: Session) => Promise<boolean> {
  const call = called(schema, 'keep_facts()', []);
  return async (session) => (await call(session)) === 't';
}

function called(
  schema: string,
  text: string,
  values: unknown[],
): (session: Session) => Promise<string | null> {
  return async (session) =>
    (await session.run({ text: `SELECT "${schema}".${text}` }, values))[0]![0]!;
}

/** @throws {StoreError} for misuse */
function takeIn(plan: FactPlan, write: FactWrite): void {
  const verdict = judgeFacts([write], plan);
  if ('refusal' in verdict) throw brokenOrder(write);
  plan.accept(verdict.changes);
}

function search(
  query: FactQuery,
  schema: string,
): { readonly statement: Statement; readonly values: unknown[] } {
  const { subject, predicate, kind, valid, system, lineage, after, limit } = query;
  const values: unknown[] = [];
  const given = (value: unknown): string => `$${values.push(value)}`;
  const where = restrictions(query, given);
  if (after !== undefined) {
    const place = [
      after.subject,
      after.predicate,
      after.system_time_start,
      after.valid_from,
      after.fact_id,
    ].map(given);
    // The first condition lets the server use the index.
    where.push(`left(p.subject, 200) >= left(${place[0]}, 200)`);
    where.push(
      `(p.subject, p.predicate, f.system_start, f.valid_from, f.fact_id) > (${place.join(', ')})`,
    );
  }
  const text = `SELECT r.whole, x.* FROM "${schema}".fact_rebuild AS r LEFT JOIN LATERAL (
      SELECT ${ROW}, p.subject, p.predicate
      FROM "${schema}".fact_partition AS p JOIN "${schema}".fact AS f ON f.key = p.key WHERE ${where.join(' AND ')}
      ORDER BY left(p.subject, 200), p.subject, p.predicate, f.system_start, f.valid_from, f.fact_id LIMIT ${given(limit)}
    ) AS x ON true ORDER BY x.subject, x.predicate, x.system_start, x.valid_from, x.fact_id`;
  if (subject === undefined || predicate === undefined) return { statement: { text }, values };
  // Queries of one partition are frequent and have few forms, so they are prepared.
  const at = system === undefined || system === 'now' ? system : 'then';
  const others = [valid, lineage, after].map((member) => member !== undefined);
  return { statement: { name: `assize facts ${[kind, at, ...others].join(' ')}`, text }, values };
}

/**
 * The conditions of a query on a row `f` of a partition `p`. All conditions must hold. `given` adds
 * a value to the statement and returns its parameter.
 */
export function restrictions(
  { space, branch, subject, predicate, kind, valid, system, lineage }: FactQuery,
  given: (value: unknown) => string,
): string[] {
  const where: string[] = [];
  if (subject !== undefined && predicate !== undefined) {
    where.push(
      `p.hash = ${given(bytea(hashOf({ space, subject, predicate, ...(branch !== undefined && { branch }) })))}`,
    );
  } else {
    where.push(`p.branch = ${given(branch ?? '')}`);
    where.push(`p.space_hash = sha256(convert_to(${given(space)}, 'UTF8'))`);
    if (subject !== undefined) {
      const name = given(subject);
      where.push(`left(p.subject, 200) = left(${name}, 200) AND p.subject = ${name}`);
    }
    if (predicate !== undefined) where.push(`p.predicate = ${given(predicate)}`);
  }
  if (kind !== 'all') where.push(kind === 'audit' ? 'f.audit' : 'NOT f.audit');
  if (valid !== undefined) {
    const at = given(valid);
    where.push(`f.valid_from <= ${at} AND f.valid_to > ${at}`);
  }
  if (system === 'now') {
    where.push(`f.system_end = '${OPEN_END}'`);
  } else if (system !== undefined) {
    const at = given(system);
    where.push(`f.system_end > ${at} AND f.system_start <= ${at}`);
  }
  if (lineage !== undefined) where.push(`f.lineage = ${given(lineage)}`);
  return where;
}

export const ROW = `f.fact_id, f.object, encode(f.content, 'hex') AS content, f.content_bytes, f.valid_from, f.valid_to, f.system_start,
  f.system_end, f.provenance, f.confidence, f.strategy, f.audit, f.resolution, f.lineage, f.asserted_seq, f.asserted_from,
  encode(f.entry, 'hex') AS entry, f.seq, f.single`;

/** The columns after `whole` have the types that the schema declares. */
export function versionOf(
  columns: Row,
  { space, subject, predicate, branch }: PartitionName,
): FactVersion {
  const row = columns.slice(1, 20) as [
    ...[
      string,
      string,
      Hash,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
    ],
    ...[string | null, string, string, string, Hash, string, string],
  ];
  return {
    fact_id: row[0],
    space,
    subject,
    predicate,
    ...(branch !== undefined && { branch }),
    object: row[1],
    content: { hash: row[2], bytes: Number(row[3]) },
    valid_from: row[4],
    valid_to: row[5],
    system_time_start: row[6],
    system_time_end: row[7],
    provenance_id: row[8],
    confidence: Number(row[9]),
    resolution_strategy_id: row[10],
    row_kind: row[11] === 't' ? 'audit' : 'current',
    resolution_id: row[12],
    lineage: row[13],
    asserted_seq: Number(row[14]),
    asserted_from: row[15],
    entry_id: row[16],
    seq: Number(row[17]),
    cardinality: row[18] === 't' ? 'single-valued' : 'multi-valued',
  };
}

/** @throws {StoreError} */
export function requireWhole([first]: readonly Row[], path: string): void {
  if (first?.[0] !== 't') throw incompleteError(path);
}
