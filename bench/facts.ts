/**
 * Facts at the store, on SQLite: reads of one point in both times, and contradictions written
 * durably in groups. They are compared with facts without contradictions, and with a bare loop of
 * the same statements and syncs. All run together, on the same rows.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { openStore } from 'assize';
import { hashText } from '#canon';
import { type FactVersion, type FactWrite, placedProvenance } from '#ledger';
import {
  declarePredicate,
  type FactRow,
  mergeProvenance,
  OPEN_END,
  type PlanInput,
  type PredicateDeclaration,
  planAssert,
  writeToken,
} from '#memory';
import type { Store } from '#stores';
import {
  type BenchResult,
  type Contender,
  compare,
  keep,
  percentile,
  rateResult,
} from './measure.ts';

const FACTS = 100_000;
const VERSIONS = 1_000;
/** Number of callers that wait together. */
const GROUPS: readonly number[] = [16, 256];
/** Required contradictions per second, for the larger groups. */
const GOAL = 10_000;
const READS = 4_000;
/** Number of consecutive reads of one kind. */
const TURN = 500;
/** Number of single contradictions, and of warm-up ones, so that compiled code is measured. */
const SAMPLES = 400;
const WARM = 20_000;
const ONE_BY_ONE: number = WARM + SAMPLES;
/** The distance to the next subject. The walk comes to all of them in turn. */
const STRIDE = 7_919;
const HASH = 'ab'.repeat(32);
/** Of rows that `bareRows` asks for. */
export const BELIEVED_NOW: string = `e.system_end = '${OPEN_END}'`;
/** The default declaration of a domain. */
const DECLARATION: PredicateDeclaration = declarePredicate({
  cardinality: 'single-valued',
  strategy: 'lww',
});
const START = Date.UTC(2026, 0, 1);

export async function factsBench(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  const path = join(folder, 'facts.db');
  const store = await openStore(`sqlite:${path}`);
  try {
    for (let from = 0; from < FACTS; from += 1_000) await firstSaid(store, from, from + 1_000);
    await store.close();
    const bytes = statSync(path).size;
    const text = FACTS * JSON.stringify(first(0).insert[0]).length;
    const again = await openStore(`sqlite:${path}`);
    try {
      await put(again, [first(-1)]);
      for (let version = 2; version <= VERSIONS; version++)
        await put(again, [
          replacing(-1, { version: version - 1, time: often(version - 1) }, often(version)),
        ]);
      return [
        ...(await reads(again, path)),
        {
          name: `bytes in the file for one of its row as JSON, ${FACTS} facts`,
          value: bytes / text,
          unit: '',
        },
        ...(await one(again, join(folder, 'row.db'))),
        ...(await writes(again, folder)),
      ];
    } finally {
      await again.close();
    }
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Each read beside a bare one on the same file, in turns: the rows of one partition that are
 * believed at a time, by one statement.
 */
async function reads(store: Store, path: string): Promise<BenchResult[]> {
  const bare = new DatabaseSync(path, { readOnly: true });
  const rowsThat = (hold: string) => bareRows(bare, 'p', hold);
  const atPoint = 'e.valid_from <= ? AND f.valid_to > ?';
  const openThere = rowsThat(`${BELIEVED_NOW} AND ${atPoint}`);
  const thereThen = rowsThat(
    `e.system_end > ? AND f.system_start <= ? AND ${atPoint} ORDER BY e.system_end LIMIT 1`,
  );
  const openRows = rowsThat(BELIEVED_NOW);
  const valid = at(5);
  const point = (subject: number, system: string): Pair => [
    () =>
      store.facts({
        space: 'bench',
        subject: nameOf(subject),
        predicate: 'p',
        valid,
        system,
        limit: 1,
      }),
    () =>
      system === 'now'
        ? openThere.all(nameOf(subject), valid, valid)
        : thereThen.all(nameOf(subject), system, system, valid, valid),
  ];
  const someone = (n: number): number => inTurn(n, FACTS);
  const earlier = (n: number): string => often((n * 37) % VERSIONS);
  try {
    return [
      await latency(`as of now, one of ${FACTS} facts, p50`, (n) => point(someone(n), 'now'), 20),
      await latency(
        `as of then, one of ${FACTS} facts, p50`,
        (n) => point(someone(n), at(2_000_000)),
        20,
      ),
      await latency(`as of now, a key with ${VERSIONS} versions, p50`, () => point(-1, 'now'), 50),
      await latency(
        `as of then, a key with ${VERSIONS} versions, p50`,
        (n) => point(-1, earlier(n)),
        50,
      ),
      await latency('a partition as a change starts from it, p50', (n) => [
        () => store.partition({ space: 'bench', subject: nameOf(someone(n)), predicate: 'p' }),
        () => openRows.all(nameOf(someone(n))),
      ]),
    ];
  } finally {
    bare.close();
  }
}

/**
 * A bare statement for believed rows of one subject in the space of benchmarks: the subject first,
 * then what `hold` asks for.
 */
export function bareRows(db: DatabaseSync, predicate: string, hold: string): StatementSync {
  const statement = db.prepare(`SELECT f.*, e.system_end FROM fact_partition AS p
    JOIN fact_time AS e ON e.key = p.key AND e.audit = 0 JOIN fact AS f ON f.n = e.n
    WHERE p.space = 'bench' AND p.branch = '' AND p.subject = ? AND p.predicate = '${predicate}' AND ${hold}`);
  statement.setReturnArrays(true);
  return statement;
}

/** A read of the store, and a bare one of the same. */
type Pair = readonly [store: () => Promise<unknown>, bare: () => unknown];

async function latency(
  name: string,
  read: (n: number) => Pair,
  max?: number,
): Promise<BenchResult> {
  const times: [store: number[], bare: number[]] = [[], []];
  // In turns of many: one by one, each would find in the processor's caches what the other has
  // read.
  for (let from = 0; from < 2 * READS; from += TURN) {
    for (const i of [0, 1]) {
      for (let n = from; n < from + TURN; n++) {
        const step = read(n)[i]!;
        const start = performance.now();
        keep(await step());
        if (n >= READS) times[i]!.push((performance.now() - start) * 1_000);
      }
    }
  }
  const [value, base] = times.map((each) => percentile(each, 50)) as [number, number];
  const baseline = { name: 'a bare statement', value: base };
  return {
    name,
    value,
    unit: 'µs',
    baseline,
    ratio: value / base,
    ...(max !== undefined && { goal: { max } }),
  };
}

/** By one caller, durable. In turns with a bare commit of one row. */
async function one(store: Store, path: string): Promise<BenchResult[]> {
  const bare = new DatabaseSync(path);
  bare.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE row (id INTEGER PRIMARY KEY, text TEXT)',
  );
  const insert = bare.prepare('INSERT INTO row (text) VALUES (?)');
  const times: [bare: number[], contradiction: number[]] = [[], []];
  const text = textOf(2);
  for (let n = 0; n < ONE_BY_ONE; n++) {
    const subject = inTurn(n, FACTS);
    const steps = [
      async () => void insert.run(text),
      () => contradict(store, subject, momentOf(n)),
    ];
    for (const [i, step] of steps.entries()) {
      const start = performance.now();
      await step();
      if (n >= WARM) times[i]!.push((performance.now() - start) * 1_000);
    }
  }
  bare.close();
  const [base, value] = times.map((each) => percentile(each, 50)) as [number, number];
  return [
    {
      name: 'a contradiction resolved at the store, one caller, durable: p50',
      value,
      unit: 'µs',
      baseline: { name: 'a bare commit of one row of as much text', value: base },
      ratio: value / base,
      goal: { max: base + 120 },
    },
  ];
}

/** In groups: so many callers that wait together go into one transaction, with one sync. */
async function writes(store: Store, folder: string): Promise<BenchResult[]> {
  let next = FACTS;
  let turn = ONE_BY_ONE;
  let moment = ONE_BY_ONE;
  // Those that were contradicted one by one have a version more.
  const said = new Map(
    Array.from({ length: ONE_BY_ONE }, (_, n): [number, Said] => [
      inTurn(n, FACTS),
      { version: 2, time: momentOf(n) },
    ]),
  );
  const replaceNext = (): Promise<void> => {
    const subject = inTurn(turn++, FACTS);
    const before = said.get(subject) ?? { version: 1, time: timeOfFirst(subject) };
    const time = momentOf(moment++);
    said.set(subject, { version: before.version + 1, time });
    return put(store, [replacing(subject, before, time)]);
  };
  const results: BenchResult[] = [];
  for (const group of GROUPS) {
    const free: Contender = {
      name: `facts that contradict nothing, groups of ${group}`,
      run: (count) => grouped(count, group, () => put(store, [first(next++, momentOf(moment++))])),
    };
    const conflicting: Contender = {
      name: `contradictions, random keys of ${FACTS}, groups of ${group}`,
      run: (count) => grouped(count, group, replaceNext),
    };
    const bare = bareLoop(join(folder, `bare-${group}.db`), group);
    try {
      const [loop, open, closed] = await compare([bare.contender, free, conflicting], {
        rounds: 9,
        roundMs: 250,
      });
      const goal = group === Math.max(...GROUPS) ? { min: GOAL } : {};
      results.push(
        rateResult(closed!, open, { ...goal, ratioMin: 0.3 }),
        rateResult({ ...closed!, name: `${closed!.name}: beside the bare loop` }, loop),
        rateResult(open!, loop),
      );
    } finally {
      bare.close();
    }
  }
  return results;
}

async function grouped(count: number, group: number, write: () => Promise<void>): Promise<void> {
  for (let left = count; left > 0; left -= group)
    await Promise.all(Array.from({ length: Math.min(group, left) }, write));
}

/**
 * The statements of one contradiction, on the same tables with as many rows, in transactions of as
 * many.
 */
export function bareLoop(
  path: string,
  group: number,
): { readonly contender: Contender; close(): void } {
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE fact (n INTEGER PRIMARY KEY, key INTEGER, audit INTEGER, valid_from TEXT, fact_id TEXT, system_start TEXT, rest TEXT) STRICT;
    CREATE TABLE fact_time (key INTEGER, audit INTEGER, system_end TEXT, valid_from TEXT, id_start TEXT, n INTEGER,
      PRIMARY KEY (key, audit, system_end, valid_from, id_start, n)) STRICT, WITHOUT ROWID;
    CREATE TABLE fact_version (system_start TEXT, fact_id TEXT, key INTEGER,
      PRIMARY KEY (system_start, fact_id, key)) STRICT, WITHOUT ROWID`);
  const insert = db.prepare('INSERT INTO fact VALUES (NULL, ?, ?, ?, ?, ?, ?)');
  const insertTime = db.prepare('INSERT INTO fact_time VALUES (?, ?, ?, ?, substr(?, 1, 8), ?)');
  const insertVersion = db.prepare('INSERT INTO fact_version VALUES (?, ?, ?)');
  const close = db.prepare(
    `UPDATE fact_time SET system_end = ? WHERE key = ? AND audit = 0 AND system_end = '${OPEN_END}'`,
  );
  const rest = JSON.stringify(first(0).insert[0]).slice(0, 250);
  const row = (key: number, audit: number, id: string, time: string): void => {
    const { lastInsertRowid } = insert.run(key, audit, at(audit), id, time, rest);
    insertTime.run(key, audit, OPEN_END, at(audit), id, lastInsertRowid);
    insertVersion.run(time, id, key);
  };
  db.exec('BEGIN');
  for (let key = 0; key < FACTS; key++) row(key, 0, `claim ${key} 1`, at(0));
  db.exec('COMMIT');
  let n = 0;
  const run = (count: number): void => {
    for (let left = count; left > 0; left -= group) {
      db.exec('BEGIN IMMEDIATE');
      for (let i = 0; i < Math.min(group, left); i++, n++) {
        const [key, time] = [(n * STRIDE) % FACTS, at(n + 1)];
        close.run(time, key);
        row(key, 0, `claim ${n}`, time);
        row(key, 1, `audit ${n}`, time);
      }
      db.exec('COMMIT');
    }
  };
  return {
    contender: { name: `a bare loop of the same statements, groups of ${group}`, run },
    close: () => db.close(),
  };
}

/** Asserts a fact of each of these subjects. They have no facts yet. */
export async function firstSaid(store: Store, from: number, to: number): Promise<void> {
  await put(
    store,
    Array.from({ length: to - from }, (_, n) => first(from + n)),
  );
}

/**
 * Resolves a contradiction: reads the current facts of one subject, decides with the strategy,
 * closes the losing fact and adds an audit row.
 */
export async function contradict(store: Store, subject: number, time: string): Promise<void> {
  const partition = { space: 'bench', subject: nameOf(subject), predicate: 'p' };
  const { names, version: before, latest, open } = (await store.partition(partition))!;
  const version = before + 1;
  const writing: PlanInput = {
    partition,
    declaration: DECLARATION,
    open: open.map(inOrder),
    latest,
    at: time,
    seq: version,
    merge: mergeProvenance,
  };
  const { object } = said(subject, version);
  const valid = { from: at(0), to: OPEN_END };
  const claim = claimOf(subject, version);
  const plan = planAssert(writing, [
    { claim, object, valid, confidence: 0.5, provenance: writeToken(0) },
  ]);
  if (plan.kind !== 'plan' || plan.close.length !== 1 || plan.insert.length !== 2)
    throw new Error('unexpected: nothing was contradicted');
  const insert = plan.insert.map((row) => ({
    ...row,
    provenance_id: placedProvenance(row.provenance_id, HASH),
    entry_id: HASH,
    content: { hash: hashText(row.object), bytes: row.object.length },
  }));
  await put(store, [
    { partition, names, version, system_time: plan.systemTime, close: plan.close, insert },
  ]);
}

/**
 * The row as the runtime plans with it: without what only a store has of it, and in canonical
 * order, in which a witness is written fastest.
 */
function inOrder(row: FactVersion): FactRow {
  const ordered: Record<string, unknown> = {};
  for (const column of COLUMNS) ordered[column] = row[column];
  return ordered as unknown as FactRow;
}

/** The n-th of so many, in a turn that is not that of how they lie. */
export function inTurn(n: number, facts: number): number {
  return (n * STRIDE) % facts;
}

/** A change as JSON: as much text as a bare row is given. */
export function textOf(version: number): string {
  return JSON.stringify(replacing(0, { version: version - 1, time: timeOfFirst(0) }, momentOf(0)));
}

async function put(store: Store, facts: readonly FactWrite[]): Promise<void> {
  const { status } = await store.commit({ entries: [], blobs: [], facts });
  if (status !== 'committed') throw new Error(`unexpected: ${status}`);
}

/** A version of a subject's fact, and its time. */
interface Said {
  readonly version: number;
  readonly time: string;
}

function first(subject: number, time: string = timeOfFirst(subject)): FactWrite {
  return change(subject, { version: 1, time }, []);
}

/** Closes the last assertion, asserts another, and adds an audit row for the loser. */
function replacing(subject: number, before: Said, time: string): FactWrite {
  const close = [{ fact_id: claimOf(subject, before.version), system_time_start: before.time }];
  return change(subject, { version: before.version + 1, time }, close);
}

function change(subject: number, { version, time }: Said, close: FactWrite['close']): FactWrite {
  const partition = { space: 'bench', subject: nameOf(subject), predicate: 'p' };
  const row: FactVersion = {
    ...partition,
    fact_id: claimOf(subject, version),
    ...said(subject, version),
    valid_from: at(0),
    valid_to: OPEN_END,
    system_time_start: time,
    system_time_end: OPEN_END,
    provenance_id: 'w:@0',
    confidence: 0.5,
    resolution_strategy_id: 'lww',
    row_kind: 'current',
    resolution_id: null,
    lineage: claimOf(subject, version),
    asserted_seq: version,
    asserted_from: at(0),
    entry_id: HASH,
    seq: version,
    cardinality: 'single-valued',
  };
  const audit: FactVersion = {
    ...row,
    ...said(subject, version - 1),
    fact_id: `audit::${claimOf(subject, version - 1)}::${time}`,
    row_kind: 'audit',
    resolution_id: HASH,
  };
  const names = { hash: HASH, bytes: 40 };
  return {
    partition,
    names,
    version,
    system_time: time,
    close,
    insert: close.length === 0 ? [row] : [row, audit],
  };
}

const COLUMNS: readonly (keyof FactVersion)[] = (
  Object.keys(first(0).insert[0]!) as (keyof FactVersion)[]
)
  .filter((column) => column !== 'content')
  .sort();

/** By its hash the store tells texts apart that facts are found by. */
function said(subject: number, version: number): Pick<FactVersion, 'object' | 'content'> {
  const object = `what is said of ${nameOf(subject)} in version ${version}`;
  return { object, content: { hash: hashText(object), bytes: 40 } };
}

function nameOf(subject: number): string {
  return `subject ${subject}`;
}

function claimOf(subject: number, version: number): string {
  return `${String(subject).padStart(32, '0')}${String(version).padStart(32, '0')}`;
}

/** Times rise in the order of the writes, like a clock's: the first statement of each subject, */
function timeOfFirst(subject: number): string {
  return subject === -1 ? often(1) : at(1_000_000 + subject);
}

/** versions of the key that has many of them, */
function often(version: number): string {
  return at(1_000_000 + 1_000 * version);
}

/** and, n-th after all of that, what is said later. */
export function momentOf(n: number): string {
  return at(3_000_000 + n);
}

/** The instant that many milliseconds after the start. */
function at(ms: number): string {
  return `${new Date(START + ms).toISOString().slice(0, 23)}000Z`;
}
