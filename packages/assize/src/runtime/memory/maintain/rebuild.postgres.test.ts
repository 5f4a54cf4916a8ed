/**
 * Facts rebuilt from a ledger in which several trajectories, with different clocks, change one
 * partition.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fsck } from '@assize/audit/internal/checkpoints';
import { exportLines, importLines } from '@assize/audit/internal/export';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { isAssizeError } from '#base';
import { addMicros, type Instant } from '#canon';
import { type FactStore, type FactVersion, integrateLog, type LedgerStore } from '#ledger';
import { openStore, type Store } from '#stores';
import { cases } from '../../../../../../tests/support/cases.ts';
import { clinic } from '../../../../../../tests/support/clinic/clinic.ts';
import {
  HandClock,
  runtimeOver,
  START,
  writFor,
} from '../../../../../../tests/support/ledger/runtime.ts';
import { onEveryStore } from '../../../../../../tests/support/ledger/stores.ts';
import { openUnguarded } from '../../../../../../tests/support/ledger/unguarded.ts';
import type { Trajectory } from '../../trajectory.ts';
import { checkMemory, type Memory, rebuildMemory } from '../index.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-rebuild-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Facts = LedgerStore & FactStore & Store;

const writ = writFor('nurse');
const NAMES = ['a', 'b', 'c'];
/** Clock offsets of the writers, by trajectory. */
const AHEAD_MICROS = [0, 3_600_000_000, -3_600_000_000];
const day = (n: number): Instant => addMicros(START, n * 86_400_000_000);

interface Deed {
  readonly where: number;
  readonly verb: 'assert' | 'change' | 'correct' | 'retract' | 'erase' | 'visit';
  readonly subject: string;
  readonly predicate: 'drug' | 'allergy' | 'weight';
  readonly object: string;
  readonly from: number;
  readonly days: number;
}

const deeds: fc.Arbitrary<Deed[]> = fc.array(
  fc.record({
    where: fc.nat(2),
    verb: fc.constantFrom('assert', 'assert', 'change', 'correct', 'retract', 'erase', 'visit'),
    subject: fc.constantFrom('p1', 'p2'),
    predicate: fc.constantFrom('drug', 'drug', 'allergy', 'weight'),
    object: fc.constantFrom('x', 'y', 'z'),
    from: fc.nat(8),
    days: fc.integer({ min: 1, max: 5 }),
  }) as fc.Arbitrary<Deed>,
  { minLength: 4, maxLength: 14 },
);

/** One trajectory for each writer, with separate runtimes and clocks. */
async function told(store: Facts, all: readonly Deed[]): Promise<void> {
  const clocks = NAMES.map(() => new HandClock());
  const trajectories: Trajectory[] = [];
  for (const [i, trajectoryId] of NAMES.entries()) {
    const assize = runtimeOver(store, [clinic], { ports: { clock: clocks[i]! } });
    trajectories.push(
      (await assize.create(clinic, { trajectoryId, writs: [writ] })) as unknown as Trajectory,
    );
  }
  for (const [n, deed] of all.entries()) {
    clocks[deed.where]!.at = addMicros(
      START,
      AHEAD_MICROS[deed.where]! + 7_200_000_000 + n * 1_000_000,
    );
    const trajectory = trajectories[deed.where]!;
    await done(
      trajectory,
      trajectory.memory({ space: deed.days === 5 ? 'icu' : 'ward', writ }),
      deed,
    );
  }
}

async function done(
  trajectory: Trajectory,
  memory: Memory,
  { verb, subject, predicate, object, from, days }: Deed,
): Promise<void> {
  const said = { subject, predicate, object };
  const valid = { from: day(from), to: day(from + days) };
  if (verb === 'assert') await memory.assert({ ...said, valid, confidence: days / 10 });
  else if (verb === 'change') await memory.change({ ...said, from: day(from) });
  else if (verb === 'correct') await memory.correct({ ...said, valid });
  else if (verb === 'retract') await memory.retract({ subject, predicate, valid });
  else if (verb === 'visit')
    await trajectory.propose({
      action: 'visit',
      role: 'nurse',
      args: { patient: subject, weight: object },
      writ,
    } as never);
  else {
    const erased = trajectory.erase({ entries: [trajectory.head], reason: 'asked for', writ });
    await erased.catch((error: unknown) => {
      if (!isAssizeError(error, 'nothing_to_erase')) throw error;
    });
  }
}

/** All facts of the store. */
async function exported(store: Facts): Promise<unknown> {
  const spaces = await store.spaces();
  const rows = await Promise.all(spaces.map((space) => store.facts({ space, kind: 'all' })));
  const states = await Promise.all(
    rows
      .flat()
      .map(({ space, subject, predicate }) => store.partition({ space, subject, predicate })),
  );
  return { spaces, rows, states };
}

async function* linesOf(store: Facts): AsyncGenerator<string> {
  await integrateLog(store);
  for await (const line of exportLines(store)) yield* [line.replace(/\n$/, '')];
}

async function* withoutLast(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let before: string | undefined;
  for await (const line of lines) {
    if (before !== undefined) yield before;
    before = line;
  }
}

let files = 0;
const opened = async (kind: string): Promise<Facts> =>
  (await openStore(
    kind === 'memory' ? 'memory:' : `sqlite:${join(folder, `${++files}.db`)}`,
  )) as Facts;

/** Runs of the property: a server takes longer. */
const RUNS = { memory: 40, sqlite: 5, postgres: 2 } as const;

onEveryStore(({ kind, newPlace }) => {
  const opened = async (): Promise<Facts> => (await newPlace().open()) as Facts;

  test('a rebuild restores every row, also in another store', async () => {
    await fc.assert(
      fc.asyncProperty(deeds, async (all) => {
        const store = await opened();
        await told(store, all);
        const before = await exported(store);
        expect(await checkMemory(store)).toMatchObject({
          valid: true,
          differences: [],
          more: 0,
          changedMeanwhile: 0,
        });
        expect(await exported(store)).toEqual(before);
        await rebuildMemory(store);
        expect(await exported(store)).toEqual(before);
        const copy = await opened();
        await importLines(copy, linesOf(store));
        await rebuildMemory(copy);
        expect(await exported(copy)).toEqual(before);
        expect(await fsck(copy)).toMatchObject({ valid: true, faults: [] });
        await store.close();
        await copy.close();
      }),
      { numRuns: cases(RUNS[kind]), examples: [[FORGOTTEN]] },
    );
  });

  test('an import has entries but no facts until a rebuild, and a check finds it', async () => {
    const [store, copy] = [await opened(), await opened()];
    await told(store, SOME);
    expect(await importLines(copy, linesOf(store))).toMatchObject({ beliefs: 4 });
    const { valid, facts, partitions, differences } = await checkMemory(copy);
    expect([valid, differences.length, partitions]).toEqual([false, facts, 2]);
    expect(new Set(differences.map((each) => each.kind))).toEqual(new Set(['missing']));
    expect(await fsck(copy)).toMatchObject({ valid: false, faults: [{ code: 'facts_differ' }] });
    const seen: number[][] = [];
    expect(await rebuildMemory(copy, { onProgress: (...at) => seen.push(at) })).toEqual({
      changes: 4,
      facts,
    });
    expect(seen.at(-1)).toEqual([14, 14]);
    expect(await checkMemory(copy)).toMatchObject({ valid: true, facts });
    await store.close();
    await copy.close();
  });

  test('an aborted import has no facts and marks that on request; others stay', async () => {
    const [store, copy, other] = [await opened(), await opened(), await opened()];
    await told(store, SOME);
    const cut = (): AsyncIterable<string> => withoutLast(linesOf(store));
    await expect(importLines(copy, cut(), { awaitsFacts: true })).rejects.toMatchObject({
      code: 'bad_export',
    });
    // Too few for a group: nothing was written.
    expect(await copy.facts({ space: 'ward' })).toEqual([]);
    const stopped = {
      awaitsFacts: true,
      onProgress: () => {
        throw new Error('stopped');
      },
    };
    await expect(importLines(copy, linesOf(store), stopped)).rejects.toThrow('stopped');
    const incomplete = { code: 'store_facts_incomplete' };
    await expect(copy.facts({ space: 'ward' })).rejects.toMatchObject(incomplete);
    await expect(copy.spaces()).rejects.toMatchObject(incomplete);
    await importLines(copy, linesOf(store), { awaitsFacts: true });
    await rebuildMemory(copy);
    expect(await exported(copy)).toEqual(await exported(store));
    // Nothing new, and nothing to await.
    await importLines(copy, linesOf(store), { awaitsFacts: true });
    expect(await exported(copy)).toEqual(await exported(store));
    const memory = (
      await runtimeOver(other, [clinic]).create(clinic, { trajectoryId: 'other', writs: [writ] })
    ).memory({
      space: 'elsewhere',
      writ,
    });
    await memory.assert({ subject: 'p1', predicate: 'drug', object: 'w' });
    await importLines(other, linesOf(store), { awaitsFacts: true });
    await expect(other.facts({ space: 'elsewhere' })).rejects.toMatchObject(incomplete);
    expect(await other.keepFacts()).toBe(true);
    expect(await other.facts({ space: 'elsewhere' })).toHaveLength(1);
    expect(await other.facts({ space: 'ward' })).toEqual([]);
    await rebuildMemory(other);
    expect(await checkMemory(other)).toMatchObject({ valid: true });
    for (const each of [store, copy, other]) await each.close();
  });
});

/** Four changes of two partitions. */
const SOME: readonly Deed[] = [
  { where: 1, verb: 'assert', subject: 'p1', predicate: 'drug', object: 'x', from: 0, days: 2 },
  { where: 0, verb: 'assert', subject: 'p1', predicate: 'drug', object: 'y', from: 1, days: 2 },
  { where: 2, verb: 'change', subject: 'p1', predicate: 'drug', object: 'z', from: 1, days: 1 },
  { where: 0, verb: 'assert', subject: 'p2', predicate: 'weight', object: 'x', from: 0, days: 1 },
];

/** Statements of two writers are contradicted, and one of them is erased. */
const FORGOTTEN: Deed[] = [
  ...SOME,
  { where: 2, verb: 'erase', subject: 'p1', predicate: 'drug', object: 'z', from: 1, days: 1 },
  { where: 1, verb: 'assert', subject: 'p1', predicate: 'drug', object: 'y', from: 0, days: 4 },
];

test('every change in the database is found and located', async () => {
  const store = await opened('sqlite');
  const path = join(folder, `${files}.db`);
  await told(store, SOME);
  const [row] = await store.facts({ space: 'ward', subject: 'p2' });
  await store.close();
  const spoilt: [string, object | undefined][] = [
    ["UPDATE fact SET object = 'w' WHERE fact_id = ?", { kind: 'other' }],
    ['UPDATE fact SET confidence = 0.7 WHERE fact_id = ?', { kind: 'other' }],
    [
      "UPDATE fact_time SET system_end = '2030-01-01T00:00:00.000000Z' WHERE n = (SELECT n FROM fact WHERE fact_id = ?)",
      { kind: 'other' },
    ],
    [
      "UPDATE fact SET fact_id = 'f' || substr(fact_id, 2) || 'f' WHERE fact_id = ?",
      { kind: 'unexpected' },
    ],
    ['DELETE FROM fact WHERE fact_id = ?', { kind: 'missing' }],
    ['DELETE FROM fact_time WHERE n = (SELECT n FROM fact WHERE fact_id = ?)', { kind: 'missing' }],
    [
      'UPDATE fact_partition SET version = 9 WHERE key = (SELECT key FROM fact WHERE fact_id = ?)',
      { kind: 'partition' },
    ],
    [
      "UPDATE fact_partition SET latest = '2030-01-01T00:00:00.000000Z' WHERE key = (SELECT key FROM fact WHERE fact_id = ?)",
      { kind: 'partition' },
    ],
  ];
  for (const [sql, found] of spoilt) {
    const db = new DatabaseSync(path);
    db.exec('PRAGMA ignore_check_constraints = 1');
    expect(db.prepare(sql).run((row as FactVersion).fact_id).changes, sql).toBe(1);
    db.close();
    const again = (await openStore(`sqlite:${path}`)) as Facts;
    const { valid, differences } = await checkMemory(again);
    expect([valid, differences], sql).toEqual([
      false,
      expect.arrayContaining([expect.objectContaining({ ...found, subject: 'p2' })]),
    ]);
    expect(differences.every(({ subject }) => subject === 'p2')).toBe(true);
    await rebuildMemory(again);
    expect(await checkMemory(again)).toMatchObject({ valid: true });
    await again.close();
  }
});

describe.each(NAMES)('where %s does not verify', (broken) => {
  test('unaffected facts are still compared, and affected ones are not reported', async () => {
    const store = await opened('sqlite');
    const path = join(folder, `${files}.db`);
    await told(store, SOME);
    const rows = await store.facts({ space: 'ward', kind: 'all' });
    const said = (await store.entries(broken)).findLast(({ payload }) =>
      payload.includes('"partition"'),
    )!;
    await store.close();
    const db = openUnguarded(path);
    db.prepare("UPDATE entry SET payload = payload || ' ' WHERE id = ?").run(
      Buffer.from(said.id, 'hex'),
    );
    db.close();
    const last = SOME.findLast(({ where }) => NAMES[where] === broken)!;
    const check = async (): Promise<unknown[]> => {
      const again = (await openStore(`sqlite:${path}`)) as Facts;
      const { trajectories, faults } = await fsck(again);
      await again.close();
      expect(trajectories.filter(({ valid }) => !valid).map((each) => each.trajectory_id)).toEqual([
        broken,
      ]);
      return faults.filter(({ code }) => code === 'facts_differ');
    };
    expect(await check()).toEqual([]);
    for (const row of rows) {
      const spoilt = new DatabaseSync(path);
      const set = (confidence: number) =>
        spoilt
          .prepare('UPDATE fact SET confidence = ? WHERE fact_id = ?')
          .run(confidence, row.fact_id);
      set(0.7);
      expect(await check()).toHaveLength(row.subject === last.subject ? 0 : 1);
      set(row.confidence);
      spoilt.close();
    }
  });
});

test('a ledger that cannot become facts is refused, and existing facts stay', async () => {
  const [store, other] = [await opened('memory'), await opened('memory')];
  await told(store, SOME);
  const before = await exported(store);
  const assize = runtimeOver(other, [clinic]);
  const memory = (await assize.create(clinic, { trajectoryId: 'other', writs: [writ] })).memory({
    space: 'ward',
    writ,
  });
  await memory.assert({ subject: 'p1', predicate: 'drug', object: 'w' });
  await importLines(store, linesOf(other));
  for (const read of [rebuildMemory, checkMemory])
    await expect(read(store)).rejects.toMatchObject({
      code: 'invalid_ledger',
      message: expect.not.stringMatching(/p1|ward/),
    });
  expect(await exported(store)).toEqual(before);
  expect(await fsck(store)).toMatchObject({ valid: false, faults: [{ code: 'facts_differ' }] });
});

test('missing and duplicate versions are named', async () => {
  const [store, part] = [await opened('memory'), await opened('memory')];
  await told(store, SOME);
  const blobs = new Map<string, string>();
  for (const name of NAMES)
    for (const { payload } of await store.entries(name))
      for (const [, hash] of payload.matchAll(/"([0-9a-f]{64})"/g)) {
        const text = await store.blob(hash!);
        if (text !== undefined) blobs.set(hash!, text);
      }
  // Without the first trajectory: all of its entries are missing.
  for (const name of ['a', 'c'])
    await part.commit({
      entries: await store.entries(name),
      blobs: [...blobs].map(([hash, text]) => ({ hash, text })),
    });
  await expect(rebuildMemory(part)).rejects.toMatchObject({
    code: 'invalid_ledger',
    message: expect.stringContaining('has no version 1'),
  });
});

test('a concurrent write during the check causes no difference', async () => {
  const store = await opened('memory');
  await told(store, SOME);
  const clock = new HandClock();
  clock.forward(20_000_000);
  const assize = runtimeOver(store, [clinic], { ports: { clock } });
  const memory = (await assize.open('a', clinic)).memory({ space: 'ward', writ });
  let written = false;
  const report = await checkMemory(
    new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (name !== 'spaces') return typeof member === 'function' ? member.bind(target) : member;
        return async () => {
          // The whole ledger was read by now.
          await memory.assert({ subject: 'p1', predicate: 'drug', object: 'late' });
          written = true;
          return target.spaces();
        };
      },
    }),
  );
  expect([written, report]).toEqual([
    true,
    expect.objectContaining({ valid: true, changedMeanwhile: 1 }),
  ]);
});
