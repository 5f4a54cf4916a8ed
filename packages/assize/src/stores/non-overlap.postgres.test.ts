import { DatabaseSync } from 'node:sqlite';
import { FactModel, generatedBatches } from '@assize/testing/internal/fact-model.ts';
import { ALICE, changeOf, day, keyOfRow } from '@assize/testing/internal/fact-rows.ts';
import { runAgainst } from '@assize/testing/internal/laws/fact-model.ts';
import { batchOf } from '@assize/testing/internal/store-rows.ts';
import fc from 'fast-check';
import { Client } from 'pg';
import { describe, expect, test } from 'vitest';
import type { FactWrite, PartitionName } from '#ledger';
import { OPEN_END } from '#memory';
import {
  closedAfterEach,
  type Place,
  postgresPlace,
  sqlitePlaces,
} from '../../../../tests/support/ledger/stores.ts';
import {
  type TestPostgres,
  untilOneWaits,
  withPostgres,
} from '../../../../tests/support/postgres/index.ts';
import type { Store } from './index.ts';

// A client with its own connection can bypass the functions of a store. The database itself rejects
// its write if two facts of a single-valued predicate would overlap. The database accepts all other
// writes of the client.

/** A row that the client writes. Its times are days of a year. */
interface Raw {
  readonly from: number;
  readonly days: number;
  readonly single: boolean;
  readonly audit: boolean;
  readonly open: boolean;
}

interface Kind {
  readonly place: () => Place;
  /** The statements that insert a row into a partition, or change an existing row. */
  readonly insert: (id: string, partition: PartitionName, row: Raw) => readonly string[];
  readonly update: (id: string, row: Raw) => readonly string[];
  /**
   * Runs the statements in one transaction. Returns the error of a rejected transaction. It writes
   * nothing.
   */
  readonly write: (place: Place, statements: readonly string[]) => Promise<string | undefined>;
  readonly runs: number;
}

const until = ({ from, days }: Raw): string => day(from + days);
const end = ({ open }: Raw): string => (open ? OPEN_END : day(90));
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const hash = 'ab'.repeat(32);

const rawRow: fc.Arbitrary<Raw> = fc.record({
  from: fc.integer({ min: 1, max: 12 }),
  days: fc.integer({ min: 1, max: 6 }),
  single: fc.oneof(
    { weight: 4, arbitrary: fc.constant(true) },
    { weight: 1, arbitrary: fc.constant(false) },
  ),
  audit: fc.oneof(
    { weight: 5, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
  open: fc.oneof(
    { weight: 4, arbitrary: fc.constant(true) },
    { weight: 1, arbitrary: fc.constant(false) },
  ),
});
const rawWrites = fc.array(
  fc.record({
    partition: fc.nat(3),
    row: rawRow,
    changes: fc.option(fc.nat(), { nil: undefined }),
  }),
  { minLength: 15, maxLength: 40, size: 'max' },
);

/**
 * A stored row with the fields that matter: its partition, its valid time and whether it counts.
 */
interface Standing {
  readonly id: string;
  readonly partition: string;
  readonly from: string;
  readonly to: string;
  readonly counts: boolean;
}

const counts = ({ single, audit, open }: Raw): boolean => single && !audit && open;

function apartTests({ place, insert, update, write, runs }: Kind): void {
  const saying = (store: Store, ...facts: FactWrite[]) => store.commit({ ...batchOf([]), facts });

  test('a client write next to any history is refused exactly if it overlaps', async () => {
    const tally = { refused: 0, taken: 0 };
    const run = async (
      batches: Parameters<typeof runAgainst>[2],
      raw: typeof rawWrites extends fc.Arbitrary<infer R> ? R : never,
    ) => {
      const there = place();
      const store = await there.open();
      const model = new FactModel();
      await runAgainst(store, model, batches);
      const partitions = model.partitions.filter((name) => model.state(name)!.open.length > 0);
      fc.pre(partitions.length > 0);
      const names = partitions.map((name) => JSON.stringify(name));
      const standing = partitions.flatMap((name, n) =>
        model.state(name)!.open.map((row): Standing => {
          const { fact_id: id, valid_from: from, valid_to: to, cardinality } = row;
          return { id, partition: names[n]!, from, to, counts: cardinality === 'single-valued' };
        }),
      );
      const mine: Standing[] = [];
      for (const [n, { partition, row, changes }] of raw.entries()) {
        const changed =
          changes === undefined ? undefined : mine[changes % Math.max(mine.length, 1)];
        const at = partition % partitions.length;
        const next: Standing = {
          id: changed?.id ?? `raw ${n}`,
          partition: changed?.partition ?? names[at]!,
          from: day(row.from),
          to: until(row),
          counts: counts(row),
        };
        const others = [...standing, ...mine].filter(
          (other) => other !== changed && other.partition === next.partition,
        );
        const overlaps =
          next.counts &&
          others.some((other) => other.counts && other.from < next.to && next.from < other.to);
        const statements =
          changed === undefined ? insert(next.id, partitions[at]!, row) : update(next.id, row);
        const refusal = await write(there, statements);
        expect({ n, next, refused: refusal !== undefined }).toEqual({ n, next, refused: overlaps });
        if (refusal !== undefined)
          expect(refusal).toContain('overlap, where there is one value at a time');
        tally[overlaps ? 'refused' : 'taken'] += 1;
        if (overlaps) continue;
        if (changed !== undefined) mine.splice(mine.indexOf(changed), 1);
        mine.push(next);
      }
      expect((await store.selfCheck!()).filter((finding) => finding.includes('overlap'))).toEqual(
        [],
      );
      await store.close();
    };
    await fc.assert(fc.asyncProperty(generatedBatches, rawWrites, run), {
      numRuns: runs,
      endOnFailure: true,
    });
    expect(Math.min(tally.refused, tally.taken)).toBeGreaterThan(0);
  });

  test('the store does not overlap a fact that a client wrote past it', async () => {
    const there = place();
    const store = await there.open();
    const first = changeOf(ALICE, 1, 10, [{ fact_id: 'a', valid_to: day(5) }]);
    await saying(store, first);
    const raw: Raw = { from: 7, days: 2, single: true, audit: false, open: true };
    expect(await write(there, insert('raw', ALICE, raw))).toBeUndefined();
    const next = (from: number, to: number) =>
      changeOf(ALICE, 2, 20, [{ fact_id: `${from}`, valid_from: day(from), valid_to: day(to) }]);
    await expect(saying(store, next(8, 12))).rejects.toMatchObject({ code: 'store_invalid_input' });
    expect(await saying(store, next(5, 7))).toEqual({ status: 'committed' });
    expect((await store.partition(ALICE))!.open.map((row) => row.fact_id)).toEqual([
      'a',
      '5',
      'raw',
    ]);
  });

  test('the version and the latest change of a partition do not go back', async () => {
    const there = place();
    const store = await there.open();
    const first = changeOf(ALICE, 1, 10, [{ fact_id: 'a' }]);
    await saying(store, first);
    await saying(store, changeOf(ALICE, 2, 20, [], first.insert.map(keyOfRow)));
    for (const back of [
      'version = 1',
      `latest = ${quoted(day(19))}`,
      `version = 3, latest = ${quoted(day(10))}`,
    ])
      expect(await write(there, [`UPDATE fact_partition SET ${back}`])).toMatch(
        /goes on from its version and its latest/,
      );
    expect(
      await write(there, [`UPDATE fact_partition SET version = 3, latest = ${quoted(day(21))}`]),
    ).toBeUndefined();
    expect(await store.partition(ALICE)).toMatchObject({ version: 3, latest: day(21) });
  });
}

const COLUMNS = `key, audit, valid_from, valid_to, fact_id, system_start, content, content_bytes, confidence, seq, asserted_seq,
  asserted_from, single, strategy, entry, lineage, resolution, provenance, object`;

function values(id: string, row: Raw, bytes: string): string {
  return `p.key, ${row.audit}, '${day(row.from)}', '${until(row)}', '${id}', '${day(11)}', ${bytes}, 1, 1, 1, 1, '${day(1)}',
    ${row.single}, 'lww', ${bytes}, '${id}', NULL, 'w', 'said past the store'`;
}

function isThere({ space, subject, predicate, branch = '' }: PartitionName): string {
  const names = Object.entries({ space, subject, predicate, branch });
  return names.map(([column, name]) => `p.${column} = ${quoted(name)}`).join(' AND ');
}

describe('SQLite', () => {
  const path = ({ url }: Place): string => url.slice('sqlite:'.length);
  const mine = (id: string): string => `n = (SELECT n FROM fact WHERE fact_id = ${quoted(id)})`;
  apartTests({
    place: sqlitePlaces(),
    insert: (id, partition, row) => [
      `INSERT INTO fact (${COLUMNS}) SELECT ${values(id, row, `x'${hash}'`)} FROM fact_partition AS p WHERE ${isThere(partition)}`,
      `INSERT INTO fact_time SELECT key, audit, '${end(row)}', valid_from, substr(fact_id, 1, 8), n FROM fact WHERE fact_id = '${id}'`,
    ],
    // In this order, because the reverse order would produce a row from the new day to the old one.
    update: (id, row) => [
      `UPDATE fact_time SET system_end = '${day(90)}' WHERE ${mine(id)}`,
      `UPDATE fact SET audit = ${row.audit}, single = ${row.single}, valid_from = '${day(row.from)}', valid_to = '${until(row)}' WHERE ${mine(id)}`,
      `UPDATE fact_time SET audit = ${row.audit}, valid_from = '${day(row.from)}' WHERE ${mine(id)}`,
      `UPDATE fact_time SET system_end = '${end(row)}' WHERE ${mine(id)}`,
    ],
    write: async (place, statements) => {
      const db = new DatabaseSync(path(place), { timeout: 5_000 });
      try {
        db.exec(
          ['PRAGMA synchronous = OFF', 'BEGIN IMMEDIATE', ...statements, 'COMMIT'].join(';\n'),
        );
        return undefined;
      } catch (error) {
        return String(error);
      } finally {
        db.close();
      }
    },
    runs: 12,
  });

  const oneRow = async (): Promise<DatabaseSync> => {
    const there = newPlace();
    const store = await there.open();
    const rows = [
      { fact_id: 'a', valid_to: day(5) },
      { fact_id: 'b', valid_from: day(5), valid_to: day(9) },
    ];
    await store.commit({ ...batchOf([]), facts: [changeOf(ALICE, 1, 10, rows)] });
    return new DatabaseSync(path(there));
  };
  const newPlace = sqlitePlaces();

  test('a time without its fact is refused, since it cannot be checked', async () => {
    const db = await oneRow();
    const time =
      "INSERT INTO fact_time SELECT key, audit, system_end, valid_from, 'other', n + 10 FROM fact_time";
    expect(() => db.exec(time)).toThrow(/a time comes after its fact/);
    db.close();
  });

  test('a current row can’t be widened over another, moved, or counted later', async () => {
    const db = await oneRow();
    const overlaps = /overlap, where there is one value at a time/;
    expect(() => db.exec(`UPDATE fact SET valid_to = '${day(6)}' WHERE fact_id = 'a'`)).toThrow(
      overlaps,
    );
    db.exec(`UPDATE fact SET valid_to = '${day(4)}' WHERE fact_id = 'a'`);
    const moved = (n: number) => `UPDATE fact_time SET valid_from = '${day(n)}' WHERE n = 2`;
    expect(() => db.exec(moved(3))).toThrow(overlaps);
    db.exec(moved(4));
    db.exec(`UPDATE fact SET single = 0, valid_to = '${day(7)}' WHERE fact_id = 'a'`);
    expect(() => db.exec("UPDATE fact SET single = 1 WHERE fact_id = 'a'")).toThrow(overlaps);
    db.close();
  });
});

withPostgres('PostgreSQL', (postgres: TestPostgres) => {
  const close = closedAfterEach();
  const place = (): Place => postgresPlace(postgres, postgres.url(), close);
  const insert: Kind['insert'] = (id, partition, row) => [
    `INSERT INTO fact (id, system_end, ${COLUMNS}) SELECT sha256('${id}'), '${end(row)}', ${values(id, row, `'\\x${hash}'::bytea`)}
      FROM fact_partition AS p WHERE ${isThere(partition)}`,
  ];
  apartTests({
    place,
    insert,
    update: (id, row) => [
      `UPDATE fact SET audit = ${row.audit}, single = ${row.single}, system_end = '${end(row)}', valid_from = '${day(row.from)}',
        valid_to = '${until(row)}' WHERE fact_id = '${id}'`,
    ],
    write: (there, statements) =>
      there.sql(...statements).then(
        () => undefined,
        (error: unknown) => String(error),
      ),
    runs: 3,
  });

  test('a concurrent write is refused if the first one commits, else applied', async () => {
    const there = place();
    const store = await there.open();
    await store.commit({
      ...batchOf([]),
      facts: [changeOf(ALICE, 1, 10, [{ fact_id: 'a', valid_to: day(5) }])],
    });
    const raw: Raw = { from: 7, days: 5, single: true, audit: false, open: true };
    const connectionString = there.url.split('?')[0]!;
    const [one, other] = [0, 1].map(
      () => new Client({ connectionString, application_name: 'assize' }),
    ) as [Client, Client];
    for (const client of [one, other]) {
      await client.connect();
      await client.query(`SET search_path TO "${postgres.schemaOf(there.url)}"`);
    }
    for (const [ends, refused] of [
      ['ROLLBACK', undefined],
      ['COMMIT', '23P01'],
    ] as const) {
      await one.query(`BEGIN; ${insert('one', ALICE, raw)}`);
      await other.query('BEGIN');
      const second = other.query(insert('other', ALICE, { ...raw, from: 8 })[0]!).then(
        () => undefined,
        (error: { code: string }) => error.code,
      );
      await untilOneWaits(postgres);
      await one.query(ends);
      expect(await second).toBe(refused);
      await other.query('ROLLBACK');
    }
    for (const client of [one, other]) await client.end();
  });
});
