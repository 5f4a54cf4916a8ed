import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { budget } from '@assize/cli/internal/domains/budget';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { writId } from '#authority';
import { canonicalize } from '#canon';
import { seededRandom } from '#oracle';
import { openStore } from '#stores';
import { cases } from '../../../../../tests/support/cases.ts';
import {
  allEntries,
  deskOf,
  type Fault,
  FaultyStore,
  payloads,
  soundState,
} from '../../../../../tests/support/ledger/desk.ts';
import {
  intent,
  operator,
  runtimeOver,
  writFor,
} from '../../../../../tests/support/ledger/runtime.ts';
import { Assize } from '../assize.ts';
import { RuntimeError } from '../errors.ts';
import type { Ruling } from '../records/ruling.ts';
import type { Trajectory } from '../trajectory.ts';

const worker = writFor('agent');
const desk = deskOf();
const apart = deskOf('footprint');

/** A runtime with its own randomness, as another process has it. */
function processOver(store: FaultyStore, name: string): Assize {
  return runtimeOver(store, [desk, apart, budget], { ports: { random: seededRandom(name) } });
}

async function begun(
  store = new FaultyStore(),
  domain = desk,
): Promise<{ store: FaultyStore; trajectory: Trajectory }> {
  const trajectory = await processOver(store, 'first').create(domain, {
    trajectoryId: 't',
    writs: [worker],
  });
  store.commits = 0;
  return { store, trajectory };
}

/** The result of a call: the ruling with its entry, or the error. */
async function outcomeOf(answer: Promise<Ruling>, store: FaultyStore): Promise<string> {
  try {
    const ruling = await answer;
    if (ruling.ruling === 'frozen') return 'frozen';
    // A returned ruling is durable at that very moment.
    expect(await store.below.resolve(ruling.entry.id)).toEqual(ruling.entry);
    return `${ruling.ruling} ${ruling.entry.seq}`;
  } catch (error) {
    return error instanceof RuntimeError ? error.code : (error as Error).message;
  }
}

const FAULTS: readonly Fault[] = [
  'conflict',
  'unknown, lost',
  'unknown, written',
  'thrown, lost',
  'thrown, written',
];

describe.each(FAULTS)('a commit that is answered with: %s', (fault) => {
  test.each([1, 2, 3, 4, 5])('the %ith of five, one after another', async (n) => {
    const { store, trajectory } = await begun();
    store.plan = new Map([[n, fault]]);
    const outcomes: string[] = [];
    for (let i = 0; i < 5; i++)
      outcomes.push(await outcomeOf(trajectory.propose(intent('add', { by: 1 }, worker)), store));
    const failed = {
      conflict: 0,
      'unknown, written': 0,
      'unknown, lost': 1,
      'thrown, lost': 1,
      'thrown, written': 1,
      none: 0,
    };
    expect(outcomes.filter((outcome) => outcome.startsWith('committed'))).toHaveLength(
      5 - failed[fault],
    );
    if (failed[fault] === 1) {
      expect(outcomes[n - 1]).toBe(
        fault.startsWith('unknown') ? 'commit_unknown' : 'the store threw',
      );
    }
    const written = 5 - (fault.endsWith('lost') ? 1 : 0);
    expect(await soundState(store, 't')).toContain(`"n":${written}`);
    expect(canonicalize(trajectory.state())).toBe(await soundState(store, 't'));
  });

  test.each([1, 2, 3, 4, 5, 6])('the %ith of five concurrent ones', async (n) => {
    const { store, trajectory } = await begun();
    store.plan = new Map([[n, fault]]);
    const asked = Array.from({ length: 5 }, () =>
      outcomeOf(trajectory.propose(intent('add', { by: 1 }, worker)), store),
    );
    const outcomes = await Promise.all(asked);
    const committed = outcomes.filter((outcome) => outcome.startsWith('committed'));
    expect(new Set(committed).size).toBe(committed.length);
    const entries = await allEntries(store, 't');
    // An unanswered entry may exist or not; an answered one exists.
    expect(entries.length - 1).toBeGreaterThanOrEqual(committed.length);
    expect(entries.length - 1).toBeLessThanOrEqual(5);
    expect(await soundState(store, 't')).toContain(`"n":${entries.length - 1}`);
    // And the trajectory continues.
    store.plan = new Map();
    expect(await outcomeOf(trajectory.propose(intent('add', { by: 1 }, worker)), store)).toBe(
      `committed ${entries.length}`,
    );
    expect(canonicalize(trajectory.state())).toBe(await soundState(store, 't'));
  });

  test('a proposal with a key is retried and recorded once', async () => {
    for (const n of [1, 2, 3]) {
      const { store, trajectory } = await begun();
      store.plan = new Map([[n, fault]]);
      for (let i = 0; i < 3; i++) {
        const input = intent('add', { by: 1 }, worker, { idempotencyKey: `key-${i}` });
        let outcome = '';
        for (let tries = 0; tries < 3 && !outcome.startsWith('committed'); tries++) {
          outcome = await outcomeOf(trajectory.propose(input), store);
        }
        expect(outcome).toBe(`committed ${i + 1}`);
      }
      expect(await allEntries(store, 't')).toHaveLength(4);
      expect(await soundState(store, 't')).toContain('"n":3');
    }
  });

  test('at an approval and at a rejection by a counselor', async () => {
    for (const way of ['approve', 'reject'] as const) {
      const { store, trajectory } = await begun();
      const asked = await trajectory.propose(intent('ask', { amount: 5 }, worker));
      const pending = asked.ruling === 'escalated' ? asked.pending : '';
      store.plan = new Map([[store.commits + 1, fault]]);
      const resolution = { principal: 'dr-who', method: 'test', reason: 'so be it' };
      const resolve = (): Promise<string> =>
        outcomeOf(trajectory.approvals[way](pending, resolution), store);
      const first = await resolve();
      const second = await resolve();
      const answered = way === 'approve' ? 'committed 2' : 'rejected 2';
      // Exactly one of the two attempts resolved it, regardless of the first result.
      if (fault.endsWith('written') || fault === 'conflict') expect(second).toBe('not_pending');
      else expect(second).toBe(answered);
      if (fault === 'conflict' || fault === 'unknown, written') expect(first).toBe(answered);
      expect(await allEntries(store, 't')).toHaveLength(3);
      expect(canonicalize(trajectory.state())).toBe(await soundState(store, 't'));
    }
  });

  test('at a beginning', async () => {
    const store = new FaultyStore();
    store.plan = new Map([[1, fault]]);
    const assize = processOver(store, 'one');
    const making = assize.create(desk, { trajectoryId: 't' });
    if (fault === 'unknown, written') expect((await making).length).toBe(1);
    else await expect(making).rejects.toThrow();
    const there = (await store.trajectories()).length;
    expect(there).toBe(fault.endsWith('written') ? 1 : 0);
    if (there === 1) expect((await assize.open('t')).length).toBe(1);
    else expect((await assize.create(desk, { trajectoryId: 't' })).length).toBe(1);
  });
});

test('a failed write is not shown as state, and the approval is pending again', async () => {
  for (const fault of ['thrown, lost', 'unknown, lost'] as const) {
    const { store, trajectory } = await begun();
    const asked = await trajectory.propose(intent('ask', { amount: 5 }, worker));
    store.plan = new Map([[store.commits + 1, fault]]);
    const pending = asked.ruling === 'escalated' ? asked.pending : '';
    await expect(
      trajectory.approvals.approve(pending, { principal: 'dr-who', method: 'test' }),
    ).rejects.toThrow();
    expect(trajectory.state()).toMatchObject({ asked: 0, approved: 0 });
    expect(trajectory.approvals.pending().map(({ id }) => id)).toEqual([pending]);
    expect(trajectory.length).toBe(2);
  }
});

test('a writer that always loses gives up, says so, and has written nothing', async () => {
  const { store, trajectory } = await begun();
  store.plan = new Map(Array.from({ length: 50 }, (_, i) => [i + 1, 'conflict'] as const));
  const error = await trajectory
    .propose(intent('add', { by: 1 }, worker))
    .catch((caught) => caught);
  expect(error).toMatchObject({ code: 'conflict', retryable: true });
  expect(await allEntries(store, 't')).toHaveLength(1);
  expect(trajectory.state()).toMatchObject({ n: 0 });
});

test('a ledger damaged while open is not written to after a conflict', async () => {
  const { store, trajectory } = await begun();
  await trajectory.propose(intent('add', { by: 1 }, worker));
  const honest = store.below.entries.bind(store.below);
  store.entries = async (name, options) =>
    (await honest(name, options)).map((row) => ({
      ...row,
      payload: row.payload.replace('"by":1', '"by":2'),
    }));
  store.plan = new Map([[store.commits + 1, 'conflict']]);
  for (let i = 0; i < 2; i++) {
    const error = await trajectory
      .propose(intent('add', { by: 1 }, worker))
      .catch((caught) => caught);
    expect(error).toMatchObject({ code: 'invalid_ledger', evidence: { seq: 1, code: 'tampered' } });
  }
  store.entries = honest;
  expect(await allEntries(store, 't')).toHaveLength(2);
  expect(await outcomeOf(trajectory.propose(intent('add', { by: 1 }, worker)), store)).toBe(
    'committed 2',
  );
});

describe('the read after a conflict', () => {
  /**
   * Two processes that have met, after that many entries and three of theirs, the last by `one`;
   * with the start and length of each read. A process without contention keeps no fold, and reads
   * everything the first time.
   */
  async function opened(
    entries: number,
  ): Promise<{ store: FaultyStore; both: Trajectory[]; reads: string[] }> {
    const { store, trajectory } = await begun();
    for (let i = 0; i < entries; i++)
      await trajectory.propose(intent('add', { by: i % 2 === 0 ? 1 : -1 }, worker));
    const both = [
      await processOver(store, 'one').open('t'),
      await processOver(store, 'two').open('t'),
    ];
    for (const who of [both[0], both[1], both[0]])
      await who!.propose(intent('keep', { value: entries }, worker));
    const reads: string[] = [];
    store.entries = async (name, options) => {
      const rows = await store.below.entries(name, options);
      reads.push(`${rows.length} from ${options?.from}`);
      return rows;
    };
    return { store, both, reads };
  }

  test('covers the new entries and the one before', async () => {
    const { store, both, reads } = await opened(100);
    const [one, two] = both as [Trajectory, Trajectory];
    expect(await one.propose(intent('add', { by: 1 }, worker))).toMatchObject({
      ruling: 'committed',
    });
    expect(await two.propose(intent('add', { by: 1 }, worker))).toMatchObject({
      ruling: 'committed',
    });
    // The first wrote last. The second lost to it, and continues its earlier read.
    expect(reads).toEqual(['4 from 101']);
    expect(await one.propose(intent('add', { by: 1 }, worker))).toMatchObject({
      ruling: 'committed',
    });
    expect(reads).toEqual(['4 from 101', '4 from 102']);
    expect(one.state()).toMatchObject({ n: 3 });
    expect(canonicalize(one.state())).toBe(await soundState(store, 't'));
  });

  test.each([1, 12, 17])(
    'covers everything if the earlier entries were replaced by %i others',
    async (count) => {
      const { store, both, reads } = await opened(10);
      const [one] = both as [Trajectory, Trajectory];
      const other = new FaultyStore();
      const anew = await processOver(other, 'anew').create(desk, {
        trajectoryId: 't',
        writs: [worker],
        note: 'restored',
      });
      for (let i = 0; i < count; i++)
        await anew.propose(intent('add', { by: i % 2 === 0 ? 5 : -5 }, worker));
      Object.assign(store, { below: other.below });
      expect(await one.propose(intent('add', { by: 1 }, worker))).toMatchObject({
        ruling: 'committed',
      });
      expect(reads).toEqual([`${Math.max(0, count - 11)} from 12`, `${count + 1} from 0`]);
      expect(one.state()).toMatchObject({ n: count % 2 === 0 ? 1 : 6 });
    },
  );

  test('is refused where it was changed, and named', async () => {
    const { store, both } = await opened(10);
    const [one, two] = both as [Trajectory, Trajectory];
    await two.propose(intent('add', { by: 1 }, worker));
    store.entries = async (name, options) =>
      (await store.below.entries(name, options)).map((row) =>
        row.seq === 14 ? { ...row, payload: row.payload.replace('"by":1', '"by":2') } : row,
      );
    for (let i = 0; i < 2; i++) {
      const error = await one.propose(intent('add', { by: 1 }, worker)).catch((caught) => caught);
      expect(error).toMatchObject({
        code: 'invalid_ledger',
        evidence: { seq: 14, code: 'tampered' },
      });
    }
  });

  test('counts spending once, however often the read continues', async () => {
    const payer = writFor('payer', { trajectory: 't', budget: { usd: 10 } });
    const { both } = await opened(3);
    const told: string[] = [];
    for (let i = 0; i < 14; i++) {
      const { ruling } = await (both[i % 2] as Trajectory).propose(
        intent('pay', { usd: 1 }, payer),
      );
      told.push(ruling);
    }
    expect(told).toEqual([...Array(10).fill('committed'), ...Array(4).fill('rejected')]);
  });

  test('covers everything after a partly failed read, each entry counted once', async () => {
    const payer = writFor('payer', { trajectory: 't', budget: { usd: 400 } });
    const { store, both } = await opened(3);
    const [one, two] = both as [Trajectory, Trajectory];
    const pay = intent('pay', { usd: 1 }, payer);
    for (let i = 0; i < 300; i++) await two.propose(pay);
    let reads = 0;
    const honest = store.entries;
    store.entries = async (name, options) => {
      // After the first page.
      if (++reads === 2) throw new Error('the server is gone');
      return honest(name, options);
    };
    await expect(one.propose(pay)).rejects.toThrow('the server is gone');
    store.entries = honest;
    const told = { committed: 0, rejected: 0 } as Record<string, number>;
    for (let i = 0; i < 110; i++) {
      const { ruling } = await one.propose(pay);
      told[ruling] = (told[ruling] ?? 0) + 1;
    }
    expect(told).toEqual({ committed: 100, rejected: 10 });
    expect(canonicalize(one.state())).toBe(await soundState(store, 't'));
  });

  test('comes with the keys that were ruled on', async () => {
    const { store, both } = await opened(3);
    const key = (n: number): object => ({ idempotencyKey: `k${n}` });
    for (let i = 0; i < 6; i++) {
      for (const who of both) await who.propose(intent('add', { by: 1 }, worker, key(i)));
    }
    expect(await allEntries(store, 't')).toHaveLength(7 + 6);
  });
});

describe('two runtimes over one store', () => {
  test('adjudicate again on the other runtime’s entries', async () => {
    const { store, trajectory: one } = await begun();
    const two = await processOver(store, 'second').open('t');
    for (let i = 0; i < 5; i++) {
      await one.propose(intent('add', { by: 1 }, worker));
      await two.propose(intent('add', { by: 1 }, worker));
    }
    // Both may be compared with the ledger once they have written last.
    expect(two.state()).toMatchObject({ n: 10 });
    expect(await one.propose(intent('add', { by: 1 }, worker))).toMatchObject({
      ruling: 'rejected',
      invariantId: 'TEN_AT_MOST',
    });
    expect(one.state()).toMatchObject({ n: 10 });
    expect(await allEntries(store, 't')).toHaveLength(12);
  });

  test('adjudicate the original proposal again, ignoring later caller changes', async () => {
    const { store, trajectory: one } = await begun();
    const two = await processOver(store, 'second').open('t');
    for (let i = 0; i < 3; i++) {
      await two.propose(intent('add', { by: 1 }, worker));
      const [args, value, observations] = [{ value: null }, { seen: i }, [] as unknown[]];
      observations.push({ name: 'seen', value });
      const input = intent('keep', args, worker, {
        observations: observations as never,
        idempotencyKey: `k${i}`,
      });
      const ruling = one.propose(input);
      value.seen = -1;
      // An answer that was never given: it would have been looked up.
      observations.push({ name: 'made up', value: 'x', oracle_key: 'f'.repeat(64) });
      Object.assign(input, { action: 'fail', idempotencyKey: 'another' });
      expect(await ruling).toMatchObject({ ruling: 'committed' });
      expect(one.state()).toMatchObject({ data: [{ seen: i }] });
    }
    expect((await payloads(store, 't')).at(-1)).toMatchObject({
      observations: [{ value: { seen: 2 } }],
    });
  });

  test('find a writ by its id once the other runtime was given it, and no other', async () => {
    const { store, trajectory: one } = await begun();
    const two = await processOver(store, 'second').open('t');
    const late = writFor('late');
    const add = (writ: unknown) => intent('add', { by: 1 }, writ as never);
    await expect(two.propose(add(writId(late)))).rejects.toMatchObject({ code: 'unknown_writ' });
    await one.propose(add(late));
    expect(await two.propose(add(writId(late)))).toMatchObject({ ruling: 'committed' });
    await expect(two.propose(add('f'.repeat(64)))).rejects.toMatchObject({ code: 'unknown_writ' });
    expect(await soundState(store, 't')).toContain('"n":2');
  });

  test('find that the other one froze the world', async () => {
    const { store, trajectory: one } = await begun();
    const two = await processOver(store, 'second').open('t');
    const asked = await one.propose(intent('ask', { amount: 5 }, worker));
    expect(await two.propose(intent('add', { by: 1 }, worker))).toMatchObject({
      ruling: 'frozen',
      by: asked.ruling === 'escalated' ? asked.pending : '',
    });
    expect(await allEntries(store, 't')).toHaveLength(2);
  });

  test('find resolutions and submissions that the other runtime made', async () => {
    const { store, trajectory: one } = await begun();
    const two = await processOver(store, 'second').open('t');
    const asked = await one.propose(intent('ask', { amount: 5 }, worker));
    const pending = asked.ruling === 'escalated' ? asked.pending : '';
    expect(
      await two.approvals.approve(pending, { principal: 'dr-who', method: 'test' }),
    ).toMatchObject({
      ruling: 'committed',
    });
    expect(await one.propose(intent('add', { by: 1 }, worker))).toMatchObject({
      ruling: 'committed',
    });
    await expect(
      two.approvals.approve(pending, { principal: 'dr-who', method: 'test' }),
    ).rejects.toMatchObject({
      code: 'not_pending',
    });
    // Also if all proposals in flight here must be adjudicated again.
    const frozen = await two.propose(intent('ask', { amount: 1 }, worker));
    const answers = [1, 2, 3].map(() => one.propose(intent('add', { by: 1 }, worker)));
    const by = frozen.ruling === 'escalated' ? frozen.pending : '';
    for (const answer of await Promise.all(answers))
      expect(answer).toMatchObject({ ruling: 'frozen', by });
    await two.approvals.reject(by, { principal: 'dr-who', method: 'test', reason: 'r' });
    const later = await Promise.all(
      [1, 2, 3].map(() => one.propose(intent('add', { by: 1 }, worker))),
    );
    for (const answer of later) expect(answer).toMatchObject({ ruling: 'committed' });
    expect(await soundState(store, 't')).toContain('"n":4');
  });

  test('resolve an approval once; the slower counselor gets `not_pending`', async () => {
    for (const ways of [
      ['approve', 'approve'],
      ['approve', 'reject'],
      ['reject', 'reject'],
    ] as const) {
      const { store, trajectory: one } = await begun();
      const asked = await one.propose(intent('ask', { amount: 5 }, worker));
      const two = await processOver(store, 'second').open('t');
      const pending = asked.ruling === 'escalated' ? asked.pending : '';
      const resolve = (
        who: Trajectory,
        way: 'approve' | 'reject',
        principal: string,
      ): Promise<string> =>
        outcomeOf(who.approvals[way](pending, { principal, method: 'test', reason: 'r' }), store);
      const outcomes = await Promise.all([
        resolve(one, ways[0], 'dr-a'),
        resolve(two, ways[1], 'dr-b'),
      ]);
      expect(outcomes.filter((outcome) => outcome === 'not_pending')).toHaveLength(1);
      expect(await allEntries(store, 't')).toHaveLength(3);
      await soundState(store, 't');
    }
  });

  test('the same key on both is one proposal', async () => {
    const { store, trajectory: one } = await begun();
    const two = await processOver(store, 'second').open('t');
    const input = intent('add', { by: 1 }, worker, { idempotencyKey: 'k' });
    const [first, second] = await Promise.all([one.propose(input), two.propose(input)]);
    expect(
      first.ruling === 'committed' &&
        second.ruling === 'committed' &&
        first.entry.id === second.entry.id,
    ).toBe(true);
    expect(await allEntries(store, 't')).toHaveLength(2);
  });

  test('two beginnings of one name: one exists', async () => {
    const store = new FaultyStore();
    const begin = (name: string): Promise<string> =>
      processOver(store, name)
        .create(desk, { trajectoryId: 't' })
        .then(
          () => 'begun',
          (error) => error.code,
        );
    expect((await Promise.all([begin('a'), begin('b')])).sort()).toEqual(['begun', 'exists']);
  });
});

test('two processes on a SQLite file are serial, with no lost or doubled entry', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-conflict-'));
  try {
    const path = `sqlite:${join(folder, 'a.db')}`;
    const [one, two] = [
      new FaultyStore(await openStore(path)),
      new FaultyStore(await openStore(path)),
    ];
    const { trajectory } = await begun(one);
    const other = await processOver(two, 'second').open('t');
    const outcomes: Promise<string>[] = [];
    for (let i = 0; i < 40; i++) {
      const [who, store] = i % 2 === 0 ? [trajectory, one] : [other, two];
      outcomes.push(
        outcomeOf(who.propose(intent('add', { by: i % 3 === 2 ? -2 : 1 }, worker)), store),
      );
      // They meet in every way: concurrently, one waiting, the other far ahead.
      if (i % 7 === 0) await outcomes.at(-1);
    }
    const places = (await Promise.all(outcomes)).map((outcome) => outcome.split(' ')[1]);
    // A writer that always lost has written nothing; the entries of the others each have their own
    // position.
    const ruled = places.filter((place) => place !== undefined);
    expect(new Set(ruled).size).toBe(ruled.length);
    expect(await allEntries(two, 't')).toHaveLength(ruled.length + 1);
    expect(await soundState(one, 't')).toBe(await soundState(two, 't'));
    await one.close();
    await two.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** One step of one of the processes; `wait`: it lets the others run first. */
const step = fc.record({
  process: fc.nat(2),
  wait: fc.boolean(),
  act: fc.oneof(
    { weight: 4, arbitrary: fc.record({ by: fc.integer({ min: 1, max: 4 }) }) },
    { weight: 2, arbitrary: fc.record({ box: fc.constantFrom('a', 'b') }) },
    { weight: 2, arbitrary: fc.record({ ask: fc.integer({ min: 1, max: 9 }) }) },
    { weight: 2, arbitrary: fc.record({ resolve: fc.constantFrom('approve', 'reject') }) },
  ),
});
const fault = fc.tuple(fc.integer({ min: 1, max: 30 }), fc.constantFrom(...FAULTS));

test('no interleaving or store answer loses, doubles or breaks it (property)', async () => {
  const run = fc.asyncProperty(
    fc.boolean(),
    fc.array(step, { minLength: 4, maxLength: 24 }),
    fc.array(fault, { maxLength: 4 }),
    async (footprint, steps, faults) => {
      const domain = footprint ? apart : desk;
      const { store } = await begun(new FaultyStore(), domain);
      const open = (name: string): Promise<Trajectory> => processOver(store, name).open('t');
      const processes = [await open('p0'), await open('p1'), await open('p2')];
      store.plan = new Map(faults);
      const answered: Promise<string>[] = [];
      let keys = 0;
      for (const { process, wait, act } of steps) {
        const trajectory = processes[process] as Trajectory;
        const idempotencyKey = `k${keys++}`;
        if ('by' in act)
          answered.push(
            outcomeOf(trajectory.propose(intent('add', act, worker, { idempotencyKey })), store),
          );
        else if ('box' in act) {
          const role = { name: 'filer', params: { box: act.box } };
          const input = {
            ...intent('put', { paper: idempotencyKey }, worker, { idempotencyKey }),
            role,
          };
          answered.push(outcomeOf(trajectory.propose(input), store));
        } else if ('ask' in act) {
          answered.push(
            outcomeOf(
              trajectory.propose(intent('ask', { amount: act.ask }, worker, { idempotencyKey })),
              store,
            ),
          );
        } else {
          const [open] = trajectory.approvals.pending();
          // In different words: the same decision at the same instant would be the same entry,
          // returned to both.
          const resolution = { principal: 'dr-who', method: 'test', reason: idempotencyKey };
          if (open !== undefined)
            answered.push(
              outcomeOf(trajectory.approvals[act.resolve as 'approve'](open.id, resolution), store),
            );
        }
        if (wait) await answered.at(-1);
      }
      const outcomes = await Promise.all(answered);
      const state = JSON.parse(await soundState(store, 't'));
      const entries = await payloads(store, 't');

      // Nothing is lost or duplicated: each answered entry exists once, and each proposal has one
      // ruling.
      const places = outcomes
        .filter((outcome) => /\d$/.test(outcome))
        .map((outcome) => outcome.split(' ')[1]);
      expect(new Set(places).size).toBe(places.length);
      const ruled = entries.filter(
        (entry) => entry.seq > 0 && !('resolves' in entry && entry.resolves !== undefined),
      );
      const ids = ruled.map(
        (entry) =>
          (entry.kind === 'pending_approval' ? entry.proposal : (entry as { proposal_id: string }))
            .proposal_id,
      );
      expect(new Set(ids).size).toBe(ids.length);
      const unanswered = entries.length - 1 - places.length;
      expect(unanswered).toBeLessThanOrEqual(
        faults.filter(([, kind]) => kind === 'thrown, written').length,
      );

      // The state equals the fold of the commits, and keeps the rules.
      const commits = entries.filter((entry) => entry.kind === 'commit');
      const sum = (name: string, arg: string): number =>
        commits
          .filter(({ action }) => action.name === name)
          .reduce((total, { action }) => total + (action.args as never)[arg], 0);
      expect(state.n).toBe(sum('add', 'by'));
      expect(state.asked).toBe(sum('ask', 'amount'));
      expect(state.n).toBeLessThanOrEqual(10);
      expect(state.asked).toBeLessThanOrEqual(state.approved);
      expect(Object.values(state.boxes).flat()).toHaveLength(
        commits.filter(({ action }) => action.name === 'put').length,
      );

      // Every process reaches the same state.
      for (const [i, trajectory] of processes.entries()) {
        store.plan = new Map();
        await trajectory.propose(
          intent('fail', {}, worker, { role: 'asker', idempotencyKey: `last-${i}` }),
        );
      }
      expect(await soundState(store, 't')).toBe(canonicalize(state));
    },
  );
  await fc.assert(run, { numRuns: cases(250) });
});

test('in any order two agents in two processes keep the budget cap (property)', async () => {
  const spend = fc.record({
    process: fc.nat(1),
    amount: fc.integer({ min: 1, max: 70_000 }),
    wait: fc.boolean(),
  });
  const run = fc.asyncProperty(fc.array(spend, { minLength: 2, maxLength: 10 }), async (spends) => {
    const store = new FaultyStore();
    const make = (name: string): Assize =>
      new Assize({
        store,
        domains: [budget],
        anchors: [operator.publicKey],
        ports: { random: seededRandom(name), pause: async () => {} },
      });
    const first = await make('one').create(budget, { trajectoryId: 't', writs: [worker] });
    const both = [first, await make('two').open('t')];
    const answers: Promise<Ruling>[] = [];
    for (const { process, amount, wait } of spends) {
      const role = { name: 'spender', params: { agent: `agent-${process}` } };
      answers.push(
        (both[process] as Trajectory).propose({
          action: 'spend',
          role,
          args: { amount },
          writ: worker,
        }),
      );
      if (wait) await answers.at(-1);
    }
    const rulings = await Promise.all(answers);
    const spent = spends.reduce(
      (sum, { amount }, i) => sum + ((rulings[i] as Ruling).ruling === 'committed' ? amount : 0),
      0,
    );
    const state = JSON.parse(await soundState(store, 't')) as { spent: Record<string, number> };
    expect(Object.values(state.spent).reduce((sum, amount) => sum + amount, 0)).toBe(spent);
    expect(spent).toBeLessThanOrEqual(100_000);
    expect(await allEntries(store, 't')).toHaveLength(spends.length + 1);
  });
  await fc.assert(run, { numRuns: cases(150) });
});
