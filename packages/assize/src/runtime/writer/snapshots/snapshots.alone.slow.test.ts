/**
 * A snapshot changes only the duration of an opening. A runtime that continues from a snapshot
 * behaves, entry for entry, like one that replayed everything.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fsck } from '@assize/audit/internal/checkpoints';
import type { StoreFault } from '@assize/testing/internal/faults.ts';
import { faultAt } from '@assize/testing/internal/faults.ts';
import { faultyStore } from '@assize/testing/internal/faulty-store.ts';
import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { attenuate, type Writ, writId } from '#authority';
import { isAssizeError, type Json } from '#base';
import { hashText } from '#canon';
import { type Batch, type CommitResult, Replayer, type SnapshotRow } from '#ledger';
import { seededRandom } from '#oracle';
import { openSqlite, type SqliteStore } from '#stores';
import { cases, hasUsualCases } from '../../../../../../tests/support/cases.ts';
import {
  DOCTOR,
  granted,
  helper,
  lead,
  task,
  third,
  worker,
} from '../../../../../../tests/support/ledger/delegations.ts';
import { allEntries, deskOf } from '../../../../../../tests/support/ledger/desk.ts';
import { severalOf } from '../../../../../../tests/support/ledger/multi-approval.ts';
import {
  HandClock,
  intent,
  runtimeOver as keyedRuntimeOver,
  writFor,
} from '../../../../../../tests/support/ledger/runtime.ts';
import type { Assize } from '../../assize.ts';
import type { RuntimeError } from '../../errors.ts';
import type { AssizeOptions } from '../../options.ts';
import { Trajectory } from '../../trajectory.ts';
import { foldTrajectory } from '../load/fold.ts';
import type { SnapshotSink } from './from-memory.ts';
import { readSnapshot, snapshotOf } from './snapshot.ts';
import { SNAPSHOT_AFTER } from './snapshots.ts';

/** Without a secret, so that a snapshot of any process is read. */
const runtimeOver: typeof keyedRuntimeOver = (store, domains, options = {}) =>
  keyedRuntimeOver(store, domains, {
    ...options,
    effects: { ...options.effects, recoveryKey: undefined as never },
  });

/**
 * The first domain freezes the whole state while a proposal is pending, the others only a
 * footprint. In the last domain two counselors must approve.
 */
const domains = [deskOf(), deskOf('footprint', 'apart'), severalOf(2, 'footprint')];

const below = attenuate(
  granted,
  { subject: helper.publicKey, nonce: 'a', budget: { usd: 50 } },
  lead.privateKey,
);
const lowest = attenuate(
  below,
  { subject: third.publicKey, nonce: 'b', budget: { usd: 20 } },
  helper.privateKey,
);
const eastern = writFor('east', { trajectory: 't', budget: { usd: 15, eur: 5 } });

/** Some writs are known from the start, some only once they are presented. */
const WRITS: readonly { readonly writ: Writ; readonly chain: readonly Writ[] }[] = [
  { writ: granted, chain: [] },
  { writ: worker, chain: [] },
  { writ: below, chain: [granted] },
  { writ: lowest, chain: [below, granted] },
  { writ: eastern, chain: [] },
];

/** Records its commits, so that an equal store can be built again. */
class RecordedStore extends MemoryStore {
  readonly batches: Batch[] = [];

  override async commit(batch: Batch): Promise<CommitResult> {
    const result = await super.commit(batch);
    if (result.status === 'committed') this.batches.push(batch);
    return result;
  }
}

async function copyOf({ batches }: RecordedStore): Promise<RecordedStore> {
  const copy = new RecordedStore();
  for (const batch of batches) await copy.commit(batch);
  return copy;
}

const intents = fc.oneof(
  fc.record({
    action: fc.constant('add'),
    args: fc.record({ by: fc.integer({ min: -3, max: 8 }) }),
  }),
  fc.record({
    action: fc.constant('ask'),
    args: fc.record({ amount: fc.integer({ min: -2, max: 130 }) }),
  }),
  fc.record({
    action: fc.constant('pay'),
    args: fc.record({ usd: fc.integer({ min: 0, max: 40 }) }),
  }),
  fc.record({
    action: fc.constant('keep'),
    args: fc.record({ value: fc.jsonValue({ maxDepth: 3 }) }),
  }),
  fc.record({ action: fc.constantFrom('fail', 'nothing'), args: fc.constant({}) }),
);

const act = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      intent: intents,
      writ: fc.nat(WRITS.length - 1),
      byId: fc.boolean(),
      key: fc.option(fc.nat(4)),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      resolve: fc.nat(3),
      way: fc.constantFrom('approve' as const, 'override' as const, 'reject' as const),
      who: fc.constantFrom('dr-who', 'dr-b'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ delegate: fc.integer({ min: 0, max: 40 }) }) },
  { weight: 2, arbitrary: fc.record({ conclude: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ branchAt: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ waitMs: fc.integer({ min: 1, max: 90_000 }) }) },
);
const step = fc.record({ where: fc.oneof(fc.constant(0), fc.nat(5)), act });
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A process of a compared run: a runtime, its clock and its store. */
interface Process {
  readonly store: RecordedStore;
  readonly clock: HandClock;
  readonly assize: Assize;
}

function processOver(
  store: RecordedStore,
  seed: string,
  at: HandClock['at'],
  rest: Partial<AssizeOptions>,
): Process {
  const clock = new HandClock();
  clock.at = at;
  const ports = { clock, random: seededRandom(seed), ...rest.ports };
  const options = { ...rest, ports, approvals: { timeoutMs: 60_000, ...rest.approvals } };
  return { store, clock, assize: runtimeOver(store, domains, options) };
}

/** Performs one step, and returns everything visible of its result. */
async function perform({ store, clock, assize }: Process, { where, act }: Step): Promise<unknown> {
  const names = (await assize.trajectories()).map(({ trajectory_id }) => trajectory_id);
  const trajectory = await assize.open(names[where % names.length] as string);
  try {
    return await performOn(trajectory, { store, clock, assize }, names.length, act);
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    return { code: error.code, message: error.message };
  }
}

async function performOn(
  trajectory: Trajectory,
  { store, clock, assize }: Process,
  count: number,
  act: Step['act'],
): Promise<unknown> {
  if ('intent' in act) {
    const { action, args } = act.intent;
    const own = trajectory.delegations.origin?.writ;
    const held =
      own !== undefined && act.writ === 0 ? { writ: own, chain: [granted] } : WRITS[act.writ];
    const writ = act.byId ? writId((held as { writ: Writ }).writ) : held;
    const key = act.key === null ? {} : { idempotencyKey: `key-${act.key}` };
    return trajectory.propose(intent(action, args, writ as never, key));
  }
  if ('resolve' in act) {
    const open = trajectory.approvals.pending();
    const pending = open[act.resolve % Math.max(1, open.length)];
    if (pending === undefined) return undefined;
    const said = { ...DOCTOR, principal: act.who, reason: 'so be it' };
    if (act.way === 'reject') return trajectory.approvals.reject(pending.id, said);
    return trajectory.approvals.approve(pending.id, { ...said, override: act.way === 'override' });
  }
  if ('delegate' in act) {
    const child = await trajectory.delegations.delegate(
      task({ budget: { usd: act.delegate }, childTrajectoryId: `c${count}` }),
    );
    return { child: child.id, head: child.head };
  }
  if ('conclude' in act) {
    const open = trajectory.delegations.open();
    const started = open[act.conclude % Math.max(1, open.length)];
    if (started !== undefined)
      return trajectory.delegations.conclude(started.id, { finalAnswer: act.conclude });
    // Perhaps concluded before it was opened: repeating the conclusion returns the same entry.
    const starts = (await allEntries(store, trajectory.id)).filter(
      ({ kind }) => kind === 'delegation',
    );
    return starts[0] && trajectory.delegations.conclude(starts[0].id);
  }
  if ('branchAt' in act) {
    const places = (await allEntries(store, trajectory.id)).filter(({ kind }) =>
      /root|branch|commit/.test(kind),
    );
    const { id } = places[act.branchAt % places.length] as { id: string };
    const branch = await assize.branch(trajectory.id, id, {
      trajectoryId: `b${count}`,
      note: '',
      writs: [worker],
    });
    return { branch: branch.id, head: branch.head, state: branch.state() };
  }
  clock.forward(act.waitMs);
  return undefined;
}

/** Everything visible of all trajectories. */
async function sightOf({ store, assize }: Process): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (const { trajectory_id: name } of await store.trajectories()) {
    const trajectory = await assize.open(name);
    const { head, length } = trajectory;
    const open = [
      trajectory.approvals.pending(),
      trajectory.delegations.open(),
      trajectory.delegations.origin,
    ];
    seen.push({
      name,
      head,
      length,
      state: trajectory.state(),
      open,
      entries: await allEntries(store, name),
    });
  }
  return seen;
}

async function snapshotAt(
  store: MemoryStore,
  name: string,
  seq: number,
  from?: SnapshotRow,
): Promise<SnapshotRow> {
  const [row] = await store.entries(name, { from: seq, limit: 1 });
  const start = from === undefined ? undefined : await readSnapshot(from, store);
  const options = { until: row?.id as string, ...(start === undefined ? {} : { from: start }) };
  return snapshotOf(await foldTrajectory(name, new Replayer(store), store, options)) as SnapshotRow;
}

test('a trajectory opened from a snapshot at any entry equals a full replay', async () => {
  const met = new Map<string, number>();
  const note = (what: string): void => void met.set(what, (met.get(what) ?? 0) + 1);
  const life = fc.record({
    domain: fc.nat(2),
    before: fc.array(step, { minLength: 5, maxLength: 30 }),
    after: fc.array(fc.oneof({ weight: 3, arbitrary: step }, fc.record({ again: fc.nat(30) })), {
      minLength: 5,
      maxLength: 15,
    }),
    /** The position of each trajectory's snapshot; some have none. */
    stands: fc.array(fc.option(fc.nat(1_000)), { minLength: 12, maxLength: 12 }),
    between: fc.nat(1_000),
  });
  const run = fc.asyncProperty(life, async ({ domain, before, after, stands, between }) => {
    const store1 = new RecordedStore();
    const first = processOver(store1, 'first', new HandClock().at, { snapshots: store1 });
    const beginning = { trajectoryId: 't', writs: [granted, worker] };
    await first.assize.create(domains[domain]!, beginning);
    for (const each of before) await perform(first, each);
    await checkMemory(first);

    const at = first.clock.at;
    const replayed = processOver(await copyOf(first.store), 'second', at, {});
    const store = await copyOf(first.store);
    for (const [n, { trajectory_id: name, entries }] of (await store.trajectories()).entries()) {
      const stand = stands[n % stands.length];
      if (stand === null || stand === undefined) continue;
      const row = await snapshotAt(store, name, stand % entries);
      // The snapshot text is the same, however it was made.
      const early = await snapshotAt(store, name, between % ((stand % entries) + 1));
      expect(await snapshotAt(store, name, stand % entries, early)).toEqual(row);
      await store.putSnapshot(row, 0);
    }
    const told: RuntimeError[] = [];
    const onSnapshotFailed = (error: RuntimeError): void => void told.push(error);
    const resumed = processOver(store, 'second', at, { snapshots: store, onSnapshotFailed });

    for (const next of after) {
      // A repeated step, often with its idempotency key: rulings before the snapshot are known
      // after it.
      const each = 'again' in next ? (before[next.again % before.length] as Step) : next;
      const expected = await perform(replayed, each);
      expect(await perform(resumed, each)).toEqual(expected);
      note(nameOf(expected, each));
    }
    expect(await sightOf(resumed)).toEqual(await sightOf(replayed));
    expect(resumed.store.batches).toEqual(replayed.store.batches);
    expect((await fsck(store)).faults).toEqual([]);
    await checkMemory(resumed);
    expect(told).toEqual([]);
  });
  await fc.assert(run, { numRuns: cases(200) });
  if (!hasUsualCases()) return;
  const wanted = [
    'committed',
    'escalated',
    'rejected',
    'approve',
    'override',
    'reject',
    'child',
    'conclude',
    'branch',
  ];
  for (const what of [...wanted, 'unknown_writ', 'budget_exhausted'])
    expect(met.get(what) ?? 0, what).toBeGreaterThan(0);
});

/** The snapshot of every trajectory’s memory is the snapshot of its entries. */
async function checkMemory({ store, assize }: Process): Promise<void> {
  for (const { trajectory_id: name, entries } of await store.trajectories())
    expect(await memoryOf(await assize.open(name))).toEqual(
      await snapshotAt(store, name, entries - 1),
    );
}

/** The snapshot that a trajectory leaves of its memory. */
async function memoryOf(trajectory: Trajectory): Promise<SnapshotRow | undefined> {
  let row: SnapshotRow | undefined;
  const sink: SnapshotSink = {
    rowOf: (source) => snapshotOf(source),
    erasures: async () => 0,
    put: async (made) => {
      row = made;
    },
  };
  expect(await Trajectory.leaveSnapshot(trajectory, sink)).toBe(true);
  return row;
}

/** The outcome of a step, to check that the runs differ. */
function nameOf(outcome: unknown, { act }: Step): string {
  if (typeof outcome !== 'object' || outcome === null) return 'nothing';
  if ('code' in outcome) return outcome.code as string;
  if ('way' in act) return act.way;
  if ('conclude' in act) return 'conclude';
  if ('ruling' in outcome) {
    return 'reason' in outcome && outcome.reason === 'budget_exhausted'
      ? outcome.reason
      : (outcome.ruling as string);
  }
  return Object.keys(outcome)[0] as string;
}

/**
 * A store with data of every kind, the snapshot of its end, and its state when opened without a
 * snapshot.
 */
async function furnished() {
  const store = new RecordedStore();
  const { assize, clock } = processOver(store, 'first', new HandClock().at, {});
  const trajectory = await assize.create(domains[1]!, {
    trajectoryId: 't',
    writs: [granted, worker],
  });
  await trajectory.delegations.delegate(task({ childTrajectoryId: 'gone', budget: { usd: 5 } }));
  await trajectory.delegations.conclude(trajectory.delegations.open()[0]?.id as string, {
    finalAnswer: 1,
  });
  await trajectory.delegations.delegate(task({ childTrajectoryId: 'c', budget: { usd: 5 } }));
  await trajectory.propose(intent('pay', { usd: 3 }, { writ: below, chain: [granted] } as never));
  await trajectory.propose(intent('keep', { value: { deep: [1, 'two', null] } }, worker));
  await trajectory.propose(intent('ask', { amount: 7 }, worker));
  await trajectory.propose(intent('add', { by: 2 }, worker));
  const row = await snapshotAt(store, 't', trajectory.length - 1);
  return {
    store,
    row,
    at: clock.at,
    length: trajectory.length,
    state: trajectory.state(),
    head: trajectory.head,
  };
}

/** The state when opened with that snapshot, and the reported errors. */
async function openedWith(
  store: MemoryStore,
  row: SnapshotRow | undefined,
  rest: Partial<AssizeOptions> = {},
) {
  if (row !== undefined) await store.putSnapshot(row, 0);
  const told: RuntimeError[] = [];
  const onSnapshotFailed = (error: RuntimeError): void => void told.push(error);
  const assize = runtimeOver(store, domains, { snapshots: store, onSnapshotFailed, ...rest });
  const trajectory = await assize.open('t');
  return {
    assize,
    trajectory,
    told: told.map(({ code }) => code),
    state: trajectory.state(),
    head: trajectory.head,
  };
}

/** Counts the seqs from which an opening reads pages of entries. */
class CountedStore extends MemoryStore {
  readonly pages: number[] = [];

  override async entries(trajectoryId: string, options: { from?: number; limit?: number } = {}) {
    if (options.limit !== 1) this.pages.push(options.from ?? 0);
    return super.entries(trajectoryId, options);
  }
}

type Place = readonly (string | number)[];

/** Every path in a value. */
function placesOf(value: Json, above: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [above];
  const inside = Object.entries(value).flatMap(([key, member]) =>
    placesOf(member as Json, [...above, key]),
  );
  return above.length === 0 ? inside : [above, ...inside];
}

/** The value with another value at that path, or without it. */
function changedAt(value: Json, [key, ...rest]: Place, removed: boolean): Json {
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<
    string,
    Json
  >;
  const old = copy[key as string] as Json;
  if (rest.length > 0) copy[key as string] = changedAt(old, rest, removed);
  else if (!removed) copy[key as string] = otherThan(old);
  else if (Array.isArray(copy)) copy.splice(Number(key), 1);
  else delete copy[key as string];
  return copy;
}

function otherThan(value: Json): Json {
  if (typeof value === 'string')
    return value.endsWith('0') ? `${value.slice(0, -1)}1` : `${value.slice(0, -1)}0`;
  if (typeof value === 'number') return value + 1;
  return typeof value === 'boolean' ? !value : 'something else';
}

describe('a snapshot that was changed', () => {
  test.each([false, true])(
    'is ignored, and reported by fsck, for a change at any path (removed: %j)',
    async (removed) => {
      const { store, row, state, head } = await furnished();
      const honest = JSON.parse(row.text) as Json;
      const places = placesOf(honest);
      expect(places.length).toBeGreaterThan(80);
      for (const place of places) {
        const text = JSON.stringify(changedAt(honest, place, removed));
        const broken = { ...row, text };
        expect(await openedWith(store, broken), String(place)).toMatchObject({
          told: ['background_failed'],
          state,
          head,
        });
        expect((await fsck(store)).faults, String(place)).toMatchObject([
          { code: 'snapshot_differs', trajectory_id: 't' },
        ]);
      }
    },
  );

  test.each([false, true])(
    'with a corrected hash is found by fsck, and opens anyway (removed: %j)',
    async (removed) => {
      const { store, row, head } = await furnished();
      const honest = JSON.parse(row.text) as Json;
      for (const place of placesOf(honest)) {
        const text = JSON.stringify(changedAt(honest, place, removed));
        await store.putSnapshot({ ...row, text, hash: hashText(text) }, 0);
        const isOfAnother = place[0] === 'format' || place[0] === 'compiler_version';
        const named = (await fsck(store)).faults.map(({ code }) => code);
        // A snapshot marked as another version is not inspected.
        expect(named, String(place)).toEqual(isOfAnother ? [] : ['snapshot_differs']);
        expect((await openedWith(store, undefined)).head, String(place)).toBe(head);
      }
    },
  );

  test.each<[string, (row: SnapshotRow) => SnapshotRow]>([
    ['another seq', (row) => ({ ...row, seq: row.seq - 1 })],
    ['a seq that is not there', (row) => ({ ...row, seq: row.seq + 1 })],
    ['no JSON', (row) => ({ ...row, text: 'x', hash: hashText('x') })],
    ['other JSON', (row) => ({ ...row, text: '[]', hash: hashText('[]') })],
    [
      'JSON that is not canonical',
      (row) => ({ ...row, text: ` ${row.text}`, hash: hashText(` ${row.text}`) }),
    ],
  ])('into %s is named, and not used', async (_what, change) => {
    const { store, row, state, head } = await furnished();
    const opened = await openedWith(store, change(row));
    expect(opened).toMatchObject({ state, head });
    const faults = (await fsck(store)).faults.map(({ code }) => code);
    // A text without a format belongs to no known version.
    expect([opened.told, faults]).toEqual(
      _what === 'other JSON' ? [[], []] : [['background_failed'], ['snapshot_differs']],
    );
  });

  test('so that later entries do not fit is replaced by a replay', async () => {
    const { store, row } = await furnished();
    const { assize } = processOver(store, 'more', new HandClock().at, {});
    const trajectory = await assize.open('t');
    await trajectory.propose(intent('keep', { value: 1 }, worker));
    const forged = { ...(JSON.parse(row.text) as Record<string, Json>) };
    const { data: _gone, ...rest } = forged['state'] as Record<string, Json>;
    const text = JSON.stringify({ ...forged, state: rest });
    const opened = await openedWith(store, { ...row, text, hash: hashText(text) });
    expect(opened).toMatchObject({
      told: ['background_failed'],
      state: trajectory.state(),
      head: trajectory.head,
    });
  });

  test('of a truncated trajectory is not used', async () => {
    const { store, row, length } = await furnished();
    const cut = new RecordedStore();
    for (const batch of store.batches.slice(0, -1)) await cut.commit(batch);
    const opened = await openedWith(cut, row);
    expect([opened.told, opened.trajectory.length]).toEqual([['background_failed'], length - 1]);
  });
});

test('tampering before a snapshot is found by verification, not by opening', async () => {
  const { store, row, head } = await furnished();
  const there = await allEntries(store, 't');
  const damaged = new RecordedStore();
  for (const batch of store.batches) {
    const entries = batch.entries.map((entry) =>
      entry.seq === 5 ? { ...entry, payload: '{}' } : entry,
    );
    await damaged.commit({ ...batch, entries });
  }
  expect(there[5]?.trajectory_id).toBe('t');
  expect(await openedWith(damaged, row)).toMatchObject({ told: [], head });
  await expect(runtimeOver(damaged, domains).open('t')).rejects.toMatchObject({
    code: 'invalid_ledger',
  });
  expect((await fsck(damaged)).valid).toBe(false);
});

test('an invariant broken by an override is known as broken after a snapshot', async () => {
  const { store, at } = await furnished();
  const { assize } = processOver(store, 'more', at, {});
  const trajectory = await assize.open('t');
  await trajectory.approvals.approve(trajectory.approvals.pending()[0]?.id as string, DOCTOR);
  const escalated = await trajectory.propose(intent('ask', { amount: 120 }, worker));
  const { pending } = escalated as { pending: string };
  await trajectory.approvals.approve(pending, { ...DOCTOR, override: true, reason: 'so be it' });
  const row = await snapshotAt(store, 't', trajectory.length - 1);
  expect(await openedWith(store, row)).toMatchObject({ told: [], state: trajectory.state() });
});

test('only the entries after a snapshot are read', async () => {
  const { store, row, length } = await furnished();
  const counted = new CountedStore();
  for (const batch of store.batches) await counted.commit(batch);
  await openedWith(counted, row);
  // The entry of the snapshot is read again.
  expect(counted.pages).toEqual([length - 1]);
});

test('a branch opens from a source snapshot before its start, and no later one', async () => {
  const { store, row, length } = await furnished();
  const commits = (await allEntries(store, 't')).filter(({ kind }) => kind === 'commit');
  const [early, last] = [commits[0]!, commits.at(-1)!];
  const { assize } = processOver(store, 'branches', new HandClock().at, {});
  const states: unknown[] = [];
  for (const [name, { id }] of [
    ['early', early],
    ['late', last],
  ] as const)
    states.push((await assize.branch('t', id, { trajectoryId: name, note: '' })).state());
  const copied = new CountedStore();
  for (const batch of store.batches) await copied.commit(batch);
  const middle = await snapshotAt(store, 't', early.seq + 1);
  expect([middle.seq < last.seq, row.seq]).toEqual([true, length - 1]);
  await copied.putSnapshot(middle, 0);
  const world = runtimeOver(copied, domains, { snapshots: copied });
  for (const [n, name] of ['early', 'late'].entries()) {
    copied.pages.length = 0;
    expect((await world.open(name)).state()).toEqual(states[n]);
    // Its own page, and the part of the source in between.
    expect(copied.pages).toEqual(name === 'early' ? [0, 0] : [0, middle.seq]);
  }
});

test('a source snapshot that does not fit later entries causes a source replay', async () => {
  const { store, row, length } = await furnished();
  const { assize } = processOver(store, 'branches', new HandClock().at, {});
  const trajectory = await assize.open('t');
  await trajectory.propose(intent('keep', { value: 1 }, worker));
  const branch = await assize.branch('t', trajectory.head, { trajectoryId: 'b', note: '' });
  const forged = JSON.parse(row.text) as { state: Record<string, Json> };
  delete forged.state['data'];
  const text = JSON.stringify(forged);
  await store.putSnapshot({ ...row, text, hash: hashText(text) }, 0);
  const opened = await runtimeOver(store, domains, { snapshots: store }).open('b');
  expect([row.seq, opened.state()]).toEqual([length - 1, branch.state()]);
});

/** Adds that many entries quickly. */
async function lengthened(trajectory: Trajectory, count: number): Promise<void> {
  const inputs = Array.from({ length: count }, () => intent('pay', { usd: 0 }, worker));
  await Promise.all(inputs.map((input) => trajectory.propose(input)));
}

describe('a snapshot is left', () => {
  test('by a process that replayed a long trajectory, and the next opens from it', async () => {
    const { store } = await furnished();
    await lengthened(await runtimeOver(store, domains).open('t'), SNAPSHOT_AFTER);
    const first = await openedWith(store, undefined);
    await first.assize.close();
    expect(await store.snapshot('t')).toEqual(
      await snapshotAt(store, 't', first.trajectory.length - 1),
    );
    await lengthened(first.trajectory, 10);
    const second = await openedWith(store, undefined);
    await second.assize.close();
    expect((await store.snapshot('t'))?.seq).toBe(first.trajectory.length - 11);
    expect([second.told, second.state]).toEqual([[], first.trajectory.state()]);
  });

  test.each(['release', 'close'] as const)(
    'at %s by a process that added many entries, of the durable ones',
    async (way) => {
      const { store } = await furnished();
      const { assize, trajectory } = await openedWith(store, undefined);
      // Known here, but in no entry: the next opening does not know it.
      await trajectory.propose(
        intent('pay', { usd: 6 }, { writ: lowest, chain: [below, granted] } as never),
      );
      await lengthened(trajectory, SNAPSHOT_AFTER + 10);
      const late = trajectory.propose(intent('add', { by: 1 }, worker));
      if (way === 'release') assize.release('t');
      await assize.close();
      await late;
      const row = (await store.snapshot('t')) as SnapshotRow;
      expect(row).toEqual(await snapshotAt(store, 't', row.seq));
      await lengthened(trajectory, 5);
      await assize.close();
      expect((await store.snapshot('t'))?.seq).toBe(row.seq);
    },
  );

  test('not for few entries, nor for a state slower to write than to replay', async () => {
    const { store } = await furnished();
    const value = 'x'.repeat(1_000_000);
    const { assize, trajectory } = await openedWith(store, undefined);
    for (let n = 0; n < 4; n++) {
      await trajectory.propose(intent('keep', { value: [n, value] }, worker));
      const paper = {
        ...intent('put', { paper: value }, worker),
        role: { name: 'filer', params: { box: `b${n}` } },
      };
      await trajectory.propose(paper as never);
    }
    await assize.close();
    expect(await store.snapshot('t')).toBeUndefined();
    await lengthened(trajectory, SNAPSHOT_AFTER);
    const again = await openedWith(store, undefined);
    await again.assize.close();
    expect([again.told, await store.snapshot('t')]).toEqual([[], undefined]);
    await lengthened(trajectory, 4 * SNAPSHOT_AFTER);
    const later = await openedWith(store, undefined);
    await later.assize.close();
    expect((await store.snapshot('t'))?.seq).toBe(trajectory.length - 1);
  });

  test('in no store that is only read, and no word is said of it', async () => {
    const { store } = await furnished();
    await lengthened(await runtimeOver(store, domains).open('t'), SNAPSHOT_AFTER);
    Object.defineProperty(store, 'readonly', { value: true });
    const { assize, told } = await openedWith(store, undefined);
    await assize.close();
    expect([told, await store.snapshot('t')]).toEqual([[], undefined]);
  });
});

const FAULTS: readonly StoreFault[] = [
  { kind: 'fails' },
  { kind: 'reply_lost' },
  { kind: 'fails_after' },
  { kind: 'delay', sending: 3, answering: 3 },
];

describe.each(FAULTS)('with a store that has $kind', (fault) => {
  test.each(['snapshot', 'putSnapshot'])(
    'at %s, opening and closing succeed, and the failure is reported',
    async (operation) => {
      const { store } = await furnished();
      await lengthened(await runtimeOver(store, domains).open('t'), SNAPSHOT_AFTER);
      const honest = await openedWith(await copyOf(store), undefined);
      const faulty = faultyStore<MemoryStore>(store, faultAt(1, fault, operation));
      const told: RuntimeError[] = [];
      const onSnapshotFailed = (error: RuntimeError): void => void told.push(error);
      const assize = runtimeOver(faulty, domains, { snapshots: faulty, onSnapshotFailed });
      const trajectory = await assize.open('t');
      expect([trajectory.head, trajectory.state()]).toEqual([honest.head, honest.state]);
      await assize.close();
      expect(told.map(({ code }) => code)).toEqual(
        fault.kind === 'delay' ? [] : ['background_failed'],
      );
      // The next opening has it, or makes it.
      const next = await openedWith(store, undefined);
      await next.assize.close();
      expect([next.head, next.told]).toEqual([honest.head, []]);
      expect((await store.snapshot('t'))?.seq).toBe(trajectory.length - 1);
    },
  );
});

test('without a listener the process emits a warning', async () => {
  const { store, row } = await furnished();
  await store.putSnapshot({ ...row, hash: hashText('another') }, 0);
  const warned = new Promise((resolve) => process.once('warning', resolve));
  await runtimeOver(store, domains, { snapshots: store }).open('t');
  expect(await warned).toMatchObject({
    code: 'background_failed',
    message: expect.stringContaining('hash'),
  });
});

test('if the listener throws, the process warns, and the opening succeeds', async () => {
  const { store, row } = await furnished();
  await store.putSnapshot({ ...row, hash: hashText('another') }, 0);
  const warned = new Promise((resolve) => process.once('warning', resolve));
  const onSnapshotFailed = (): void => {
    throw new Error('not now');
  };
  const trajectory = await runtimeOver(store, domains, { snapshots: store, onSnapshotFailed }).open(
    't',
  );
  expect(trajectory.length).toBeGreaterThan(1);
  expect(await warned).toMatchObject({ message: 'not now' });
});

test('two handles on one file use each other’s snapshots, in one ledger', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-snapshots-'));
  const stores = [0, 1].map(() =>
    openSqlite({ path: join(folder, 'shared.db'), durability: 'off' }),
  );
  const [one, other] = (await Promise.all(stores)) as [SqliteStore, SqliteStore];
  const told: RuntimeError[] = [];
  const onSnapshotFailed = (error: RuntimeError): void => void told.push(error);
  const [left, right] = [one, other].map((store, n) =>
    runtimeOver(store, domains, {
      snapshots: store,
      onSnapshotFailed,
      ports: { random: seededRandom(`p${n}`) },
    }),
  ) as [Assize, Assize];
  const mine = await left.create(domains[1]!, { trajectoryId: 't', writs: [granted, worker] });
  const waiting = await mine.propose(intent('ask', { amount: 7 }, worker));
  await lengthened(mine, SNAPSHOT_AFTER);
  left.release('t');
  await left.close();
  expect(await other.snapshot('t')).toMatchObject({ seq: SNAPSHOT_AFTER + 1 });
  const theirs = await right.open('t');
  expect(theirs.approvals.pending()).toHaveLength(1);
  // After a conflict the stale runtime reloads, from the snapshot.
  const [approved, paid] = await Promise.all([
    theirs.approvals.approve((waiting as { pending: string }).pending, DOCTOR),
    mine.propose(intent('pay', { usd: 0 }, worker)),
  ]);
  expect([approved.ruling, paid.ruling]).toEqual(['committed', 'committed']);
  const seen = (await runtimeOver(one, domains).open('t')) as Trajectory;
  for (const trajectory of [await left.open('t'), mine]) {
    await trajectory.propose(intent('pay', { usd: 0 }, worker));
    expect(trajectory.state()).toEqual(seen.state());
  }
  for (const assize of [left, right]) await assize.close();
  expect([(await fsck(one)).valid, told]).toEqual([true, []]);
  for (const store of [one, other]) await store.close();
  rmSync(folder, { recursive: true });
});

test('a process opens from another’s snapshot, and leaves one for it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-snapshots-'));
  const path = join(folder, 'shared.db');
  const store = await openSqlite({ path, durability: 'off' });
  const told: RuntimeError[] = [];
  const onSnapshotFailed = (error: RuntimeError): void => void told.push(error);
  const assize = runtimeOver(store, domains, { snapshots: store, onSnapshotFailed });
  const mine = await assize.create(domains[1]!, { trajectoryId: 't', writs: [granted, worker] });
  await mine.propose(intent('ask', { amount: 7 }, worker));
  await lengthened(mine, SNAPSHOT_AFTER);
  await assize.close();
  const script = `
    const { openSqlite } = await import('#stores/sqlite');
    const { deskOf } = await import('./tests/support/ledger/desk.ts');
    const { intent, runtimeOver } = await import('./tests/support/ledger/runtime.ts');
    const { DOCTOR, worker } = await import('./tests/support/ledger/delegations.ts');
    const store = await openSqlite({ path: process.argv[1], durability: 'off' });
    const read = [];
    const entries = store.entries.bind(store);
    store.entries = (id, page) => (page.limit === 1 || read.push(page.from), entries(id, page));
    const effects = { recoveryKey: undefined };
    const assize = runtimeOver(store, [deskOf(), deskOf('footprint', 'apart')], { snapshots: store, effects });
    const trajectory = await assize.open('t');
    await trajectory.approvals.approve(trajectory.approvals.pending()[0].id, DOCTOR);
    const pay = intent('pay', { usd: 0 }, worker);
    await Promise.all(Array.from({ length: ${SNAPSHOT_AFTER} }, () => trajectory.propose(pay)));
    console.log(JSON.stringify({ from: read[0], length: trajectory.length }));
    await assize.close();
    await store.close();`;
  const args = ['--no-warnings', '--input-type=module', '-e', script, path];
  const said = execFileSync(process.execPath, args, {
    encoding: 'utf8',
    cwd: join(import.meta.dirname, '../../../../../..'),
  });
  const length = SNAPSHOT_AFTER + 2;
  expect(JSON.parse(said)).toEqual({ from: length - 1, length: length + 1 + SNAPSHOT_AFTER });
  expect((await store.snapshot('t'))?.seq).toBe(length + SNAPSHOT_AFTER);
  // After a conflict the stale runtime reloads, from the other's snapshot.
  expect((await mine.propose(intent('add', { by: 1 }, worker))).ruling).toBe('committed');
  expect(mine.length).toBe(length + 2 + SNAPSHOT_AFTER);
  const replayed = await runtimeOver(store, domains).open('t');
  expect([mine.head, mine.state(), told]).toEqual([replayed.head, replayed.state(), []]);
  expect((await fsck(store)).valid).toBe(true);
  await store.close();
  rmSync(folder, { recursive: true });
});
