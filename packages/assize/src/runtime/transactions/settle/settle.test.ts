import { MemoryStore } from '@assize/testing/memory';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Delivery, Reversibility, Sink } from '#effects';
import {
  type EffectStore,
  isSettlement,
  type LedgerStore,
  type Payload,
  readRow,
  type SettlementPayload,
} from '#ledger';
import { type Trajectory, verifyStore } from '#runtime';
import { allEntries } from '../../../../../../tests/support/ledger/desk.ts';
import { runtimeOver, writFor } from '../../../../../../tests/support/ledger/runtime.ts';
import {
  OutsideSink,
  Steps,
  tally,
  toolFor,
} from '../../../../../../tests/support/tools/effect-sink.ts';

// The ledger eventually records the end of committed transactions, once. Callers wait for it only
// if the log does not have all outcomes of their effects yet.

type Store = LedgerStore & EffectStore;
type Write = 'commit' | 'logEffects';
/** The result of a write: it succeeds or not, or it succeeds and loses its answer. */
type Fate = 'made' | 'refused' | 'unknown' | 'unknown and not made';

const writ = writFor('alice');

/** A store that counts its writes and gives each the chosen result. */
function watched(
  store: MemoryStore,
  fate: (write: Write, n: number) => Fate | Promise<Fate> = () => 'made',
): { store: Store; counts: Record<Write, number> } {
  const counts = { commit: 0, logEffects: 0 };
  const made = new Proxy<Store>(store, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== 'function') return member;
      if (name !== 'commit' && name !== 'logEffects') return member.bind(target);
      return async (...args: unknown[]) => {
        const goes = await fate(name, ++counts[name]);
        if (goes === 'refused') throw new Error('the disk is full');
        const answer =
          goes === 'unknown and not made' ? undefined : await Reflect.apply(member, target, args);
        return goes === 'made'
          ? answer
          : { status: 'unknown', cause: new Error('the line went dead') };
      };
    },
  });
  return { store: made, counts };
}

const toolOf = (delivery: Delivery) =>
  toolFor({ sink: new OutsideSink('keyed'), steps: new Steps() }, 'reversible', delivery);
const buffered = () => toolOf('buffered');

async function stage(fate?: (write: Write, n: number) => Fate | Promise<Fate>) {
  const below = new MemoryStore();
  let isOn = false;
  const { store, counts } = watched(below, (write, n) =>
    isOn ? (fate?.(write, n) ?? 'made') : 'made',
  );
  const assize = runtimeOver(store, [tally], { tools: [buffered(), toolOf('externalised')] });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  Object.assign(counts, { commit: 0, logEffects: 0 });
  isOn = true;
  const transact = (what: string) => transactOn(trajectory, what);
  const act = (what: string) => transactOn(trajectory, what, 'externalised');
  return { store: below, assize, trajectory, counts, transact, act };
}

function transactOn(trajectory: Trajectory<any>, what: string, delivery: Delivery = 'buffered') {
  return trajectory.transaction({ writ, writes: [`test:${what}`], retries: 0 }, async (tx) => {
    await tx.call(`reversible.${delivery}`, { what, at: what });
    tx.propose({ action: 'count', role: 'counter', args: 'order' });
  });
}

async function payloadsOf(store: MemoryStore, trajectoryId = 't'): Promise<Payload[]> {
  return (await allEntries(store, trajectoryId)).map((row) => readRow(row).payload);
}

async function settlementsOf(store: MemoryStore, trajectoryId = 't'): Promise<SettlementPayload[]> {
  return (await payloadsOf(store, trajectoryId)).filter(isSettlement);
}

/** All effects that commits have named, each with its number of settlements, in a valid ledger. */
async function settledIn(store: MemoryStore, trajectoryId = 't'): Promise<number[]> {
  const payloads = await payloadsOf(store, trajectoryId);
  const settled = (await settlementsOf(store, trajectoryId)).flatMap(({ action }) =>
    action.args.settled.flatMap(({ effects }) => effects.map(({ id }) => id)),
  );
  for (const { fault } of await verifyStore(store)) expect(fault).toBeUndefined();
  const named = payloads.flatMap((payload) =>
    payload.kind === 'commit' ? payload.delta.effects : [],
  );
  return named.map(({ id }) => settled.filter((other) => other === id).length);
}

const openIn = async (store: EffectStore): Promise<number[]> =>
  (await store.openEffects()).map(({ epoch }) => epoch);

/** Resolves when the timer of waiting settlements has fired and the store has answered. */
async function afterPause(): Promise<void> {
  await vi.advanceTimersByTimeAsync(5);
  await new Promise(setImmediate);
}

/**
 * A store that groups its writes, like a disk: all writes that arrive before it is free share one
 * sync.
 */
function grouping(store: MemoryStore): { store: Store; syncs: () => number } {
  let syncs = 0;
  let group: (() => Promise<void>)[] = [];
  const sync = async (): Promise<void> => {
    const writes = group;
    group = [];
    syncs++;
    for (const write of writes) await write();
  };
  const made = new Proxy<Store>(store, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== 'function') return member;
      if (name !== 'commit' && name !== 'logEffects') return member.bind(target);
      return (...args: unknown[]) =>
        new Promise((resolve, reject) => {
          if (group.length === 0) setImmediate(() => void sync());
          group.push(() =>
            Promise.resolve(Reflect.apply(member, target, args)).then(resolve, reject),
          );
        });
    },
  });
  return { store: made, syncs: () => syncs };
}

// By the rule of docs/design/effects.md: the intent of an immediate call is written first, and so
// is each call to a blind sink or of an irreversible tool. The outcome of a buffered call is
// written before the answer.
test.each<[Reversibility, Delivery, Sink, number]>([
  ['reversible', 'buffered', 'keyed', 2],
  ['with_cost', 'buffered', 'queryable', 2],
  ['reversible', 'buffered', 'blind', 3],
  ['irreversible', 'buffered', 'keyed', 3],
  ['reversible', 'externalised', 'keyed', 2],
  ['with_cost', 'externalised', 'queryable', 2],
  ['reversible', 'externalised', 'blind', 2],
])(
  'an effect that is %s, %s, %s is waited for as long as %i syncs take',
  async (reversibility, delivery, sink, most) => {
    const { store, syncs } = grouping(new MemoryStore());
    const tool = toolFor(
      { sink: new OutsideSink(sink), steps: new Steps() },
      reversibility,
      delivery,
    );
    const assize = runtimeOver(store, [tally], { tools: [tool] });
    const trajectory = await assize.create(tally, { trajectoryId: 't' });
    const before = syncs();
    const { effects } = await trajectory.transaction(
      { writ, writes: ['test:**'], retries: 0 },
      async (tx) => {
        await tx.call(tool.name, { what: 'it' });
        tx.propose({ action: 'count', role: 'counter', args: 'order' });
      },
    );
    expect([effects, syncs() - before]).toEqual(['settled', most]);
    await assize.close();
  },
);

describe('the settlement of committed transactions', () => {
  afterEach(() => void vi.useRealTimers());

  test('is written in one batch for transactions that end together', async () => {
    const { store, assize, counts, transact } = await stage();
    await Promise.all(Array.from({ length: 20 }, (_, n) => transact(`${n}`)));
    expect(counts).toEqual({ commit: 21, logEffects: 0 });
    expect(await openIn(store)).toEqual([]);
    expect(await settlementsOf(store)).toHaveLength(1);
    expect(await settledIn(store)).toEqual(Array(20).fill(1));
    await assize.close();
    expect(counts).toEqual({ commit: 21, logEffects: 0 });
  });

  test('is later and in one batch where the commit had all outcomes', async () => {
    const { store, counts, act } = await stage();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    for (let n = 0; n < 20; n++) await act(`${n}`);
    expect(counts).toEqual({ commit: 20, logEffects: 20 });
    expect(await openIn(store)).toHaveLength(20);
    await afterPause();
    expect(counts).toEqual({ commit: 21, logEffects: 20 });
    expect(await openIn(store)).toEqual([]);
    expect(await settledIn(store)).toEqual(Array(20).fill(1));
  });

  test('is then written without a pause for many transactions', async () => {
    const { store, act } = await stage();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    for (let n = 0; n <= 64; n++) await act(`${n}`);
    await new Promise(setImmediate);
    expect(await openIn(store)).toEqual([]);
    expect(await settledIn(store)).toEqual(Array(65).fill(1));
  });

  test('is durable before a caller hears of it', async () => {
    const written = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const { store, transact } = await stage(async (write, n): Promise<Fate> => {
      if (write !== 'commit' || n !== 2) return 'made';
      asked.resolve();
      await written.promise;
      return 'made';
    });
    const order: string[] = [];
    const answered = transact('a').then(({ effects }) => order.push(`answered ${effects}`));
    await asked.promise;
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    order.push('written');
    written.resolve();
    await answered;
    expect(order).toEqual(['written', 'answered settled']);
    expect(await openIn(store)).toEqual([]);
  });

  test('does not delay the next transaction at the same place', async () => {
    const written = Promise.withResolvers<void>();
    const { store, transact } = await stage(async (write, n): Promise<Fate> => {
      if (write === 'commit' && n === 3) await written.promise;
      return 'made';
    });
    const both = Promise.all([transact('a'), transact('a')]);
    await vi.waitFor(async () => expect(await openIn(store)).toEqual([1, 2]));
    written.resolve();
    expect((await both).map(({ effects }) => effects)).toEqual(['settled', 'settled']);
  });

  test('is not waited for again if it cannot be written: the answer is waiting', async () => {
    const { store, assize, transact } = await stage((write, n) =>
      write === 'commit' && n === 1 ? 'made' : 'refused',
    );
    expect((await transact('a')).effects).toBe('waiting');
    expect((await store.effectsOf(1))?.records).toHaveLength(1);
    await assize.close();
  });

  test('is not waited for after the lease: the answer is waiting', async () => {
    const written = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const { assize, transact } = await stage(async (write, n): Promise<Fate> => {
      if (write !== 'commit' || n !== 2) return 'made';
      asked.resolve();
      await written.promise;
      return 'made';
    });
    const answered = transact('a');
    await asked.promise;
    const closed = assize.close({ timeoutMs: 20 });
    expect((await answered).effects).toBe('waiting');
    written.resolve();
    await closed;
  });

  test('is written when the runtime is closed', async () => {
    const { store, assize, act } = await stage();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await act('a');
    expect(await settledIn(store)).toEqual([0]);
    await assize.close();
    expect(await settledIn(store)).toEqual([1]);
  });

  test('is waited for before the tenure ends, where it is on its way', async () => {
    const written = Promise.withResolvers<void>();
    const { store, assize, act } = await stage(async (write, n): Promise<Fate> => {
      if (write === 'commit' && n === 2) await written.promise;
      return 'made';
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await act('a');
    await afterPause();
    const closed = assize.close();
    const next = store.leaseEffects();
    written.resolve();
    await closed;
    expect(await openIn(store)).toEqual([]);
    await (await next).release();
  });

  test('is split into several entries for very many effects', async () => {
    const { store, assize, trajectory } = await stage();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    for (const many of [600, 600, 3]) {
      await trajectory.transaction({ writ, writes: ['test:**'] }, async (tx) => {
        await Promise.all(
          Array.from({ length: many }, (_, n) =>
            tx.call('reversible.externalised', { what: `${n}` }),
          ),
        );
        tx.propose({ action: 'count', role: 'counter', args: 'order' });
      });
    }
    await assize.close();
    const sizes = (await settlementsOf(store)).map(({ action }) =>
      action.args.settled.map((each) => each.effects.length),
    );
    expect(sizes).toEqual([[600], [600, 3]]);
    expect(await settledIn(store)).toEqual(Array(1_203).fill(1));
  });

  test('is nothing where a transaction uses no tool', async () => {
    const { store, assize, trajectory } = await stage();
    await trajectory.transaction({ writ }, (tx) =>
      tx.propose({ action: 'count', role: 'counter', args: 'x' }),
    );
    await assize.close();
    expect(await settlementsOf(store)).toEqual([]);
    expect(await openIn(store)).toEqual([]);
  });

  test.each<[Fate, Fate]>([
    ['refused', 'refused'],
    ['refused', 'made'],
    ['unknown', 'made'],
    ['unknown and not made', 'made'],
  ])('is written with the next entry if it was %s and the log alone is %s', async (fate, alone) => {
    const { store, assize, transact } = await stage((write, n) =>
      write === 'commit' ? (n === 2 ? fate : 'made') : n === 1 ? alone : 'made',
    );
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await transact('a');
    await afterPause();
    expect(await settledIn(store)).toEqual([fate === 'unknown' ? 1 : 0]);
    expect(await openIn(store)).toEqual(fate === 'unknown' ? [] : [1]);
    // Its known outcome survives the process.
    const records = (await store.effectsOf(1))?.records.length;
    expect(records).toBe(fate !== 'unknown' && alone === 'refused' ? 1 : 2);
    await transact('b');
    await assize.close();
    expect(await settledIn(store)).toEqual([1, 1]);
    expect(await openIn(store)).toEqual([]);
  });

  test('is not retried after the runtime is closed, if no write succeeds', async () => {
    const { assize, counts, transact } = await stage((_, n) => (n === 1 ? 'made' : 'refused'));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await transact('a');
    await afterPause();
    await assize.close();
    const then = { ...counts };
    await vi.advanceTimersByTimeAsync(10_000);
    expect(counts).toEqual(then);
  });

  test('is written by the adopting process if it failed, for any domain', async () => {
    const { store, assize, transact } = await stage((write, n) =>
      write === 'commit' && n > 1 ? 'refused' : 'made',
    );
    await transact('a');
    await assize.close();
    expect(await settledIn(store)).toEqual([0]);
    expect(await openIn(store)).toEqual([1]);
    const other = runtimeOver(store, [], { tools: [] });
    expect(await other.recoverEffects()).toEqual([]);
    expect(await settledIn(store)).toEqual([1]);
    expect(await openIn(store)).toEqual([]);
    await other.recoverEffects();
    await other.close();
    expect(await settledIn(store)).toEqual([1]);
  });

  test('is written by an adopter that has the trajectory open in a stale state', async () => {
    const { store, assize, transact } = await stage((write, n) =>
      write === 'commit' && n > 1 ? 'refused' : 'made',
    );
    const other = runtimeOver(store, [tally], { tools: [buffered()] });
    await other.open('t');
    await transact('a');
    await assize.close();
    expect(await settledIn(store)).toEqual([0]);
    await other.recoverEffects();
    await other.close();
    expect(await settledIn(store)).toEqual([1]);
    expect(await openIn(store)).toEqual([]);
  });

  test('is not written by a process that has lost the lease', async () => {
    const { store, assize, act } = await stage();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const hold = store.leaseEffects.bind(store);
    const tenures: Awaited<ReturnType<typeof hold>>[] = [];
    store.leaseEffects = async (signal) => {
      tenures.push(await hold(signal));
      return tenures.at(-1)!;
    };
    await act('a');
    await tenures[0]!.release();
    await (await hold()).release();
    await afterPause();
    await assize.close();
    expect(await settledIn(store)).toEqual([0]);
    store.leaseEffects = hold;
    await runtimeOver(store, [], { tools: [toolOf('externalised')] }).recoverEffects();
    expect(await settledIn(store)).toEqual([1]);
  });

  test('is written once, with any concurrent writers', async () => {
    const { store, assize, transact } = await stage();
    const other = await runtimeOver(store, [tally]).open('t');
    for (let n = 0; n < 10; n++) {
      await Promise.all([
        transact(`${n}`),
        other.propose({ action: 'count', role: 'counter', args: `other ${n}`, writ }),
        assize.recoverEffects(),
      ]);
    }
    await assize.close();
    const settled = await settledIn(store);
    expect(settled).toEqual(Array(10).fill(1));
  });

  test('is written to each trajectory, also to a released one', async () => {
    const { store, assize, transact } = await stage();
    const second = await assize.create(tally, { trajectoryId: 'u' });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await transact('a');
    await transactOn(second, 'b');
    assize.release('u');
    await assize.recoverEffects();
    expect(await settledIn(store, 't')).toEqual([1]);
    expect(await settledIn(store, 'u')).toEqual([1]);
    expect(await openIn(store)).toEqual([]);
  });
});
