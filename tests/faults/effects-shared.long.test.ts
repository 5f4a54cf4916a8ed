import { setImmediate as nextTurn } from 'node:timers/promises';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { declareTool, type Sink, type Tool } from '#effects';
import type { EffectWrite, SharedEffectStore } from '#ledger';
import { seededRandom } from '#oracle';
import type { Assize, Trajectory } from '#runtime';
import { operatorWrit, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { expectEffectLogMatches } from '../support/tools/check-effect-log.ts';
import {
  type Outside,
  OutsideSink,
  Steps,
  storeOf,
  tally,
  toolFor,
} from '../support/tools/effect-sink.ts';
import { orders } from '../support/tools/orders.ts';

// Several processes run the effects of one store concurrently, and some of them end or stop
// responding in the middle. The test reads the outcomes of effects from the sinks.

const COUNT = { action: 'count', role: 'counter', args: 'order' };
const NEVER = 2 ** 30;
/** Short, so that others look soon. Nothing depends on how soon. */
const LEASE_MS = 150;
/** For a process that must survive, even on a busy machine. */
const PATIENT_MS = 5 * LEASE_MS;

interface Process {
  readonly assize: Assize;
  readonly trajectory: Trajectory;
  readonly steps: Steps;
}

class World {
  readonly store = new MemoryStore({ shared: true });
  readonly sink: OutsideSink;
  fault: NonNullable<Outside['fault']> = () => 'none';
  #count = 0;

  constructor(sort: Sink = 'keyed') {
    this.sink = new OutsideSink(sort);
  }

  async process({
    steps = new Steps(),
    leaseMs = NEVER,
    more = [],
    without = false,
    domains = [tally, orders],
    over = (store) => store,
  }: {
    steps?: Steps;
    leaseMs?: number;
    more?: Tool[];
    without?: boolean;
    domains?: (typeof tally)[];
    over?: (store: MemoryStore) => MemoryStore;
  } = {}): Promise<Process> {
    const outside: Outside = { sink: this.sink, steps, fault: (of, what) => this.fault(of, what) };
    const tools = [
      toolFor(outside, 'reversible', 'externalised'),
      toolFor(outside, 'reversible', 'buffered'),
      toolFor(outside, 'irreversible', 'buffered'),
      ...more,
    ];
    // Processes do not share chance either.
    const random = seededRandom(`process ${this.#count++}`);
    const store = storeOf(over(this.store), steps);
    const assize = runtimeOver(store, domains, {
      tools: without ? [] : tools,
      ports: { random },
      effects: { leaseMs },
    });
    onTestFinished(async () => {
      if (!steps.isDead) await assize.close();
    });
    if (this.#count === 1) await assize.create(tally, { trajectoryId: 't' });
    const trajectory = await assize.open('t');
    return { assize, trajectory, steps };
  }

  async processes(
    count: number,
    options: Parameters<World['process']>[0] = {},
  ): Promise<Process[]> {
    const processes: Process[] = [];
    for (let i = 0; i < count; i++) processes.push(await this.process(options));
    return processes;
  }

  /** Entries about orders: all but what the ledger learns afterwards. */
  async orders(): Promise<number> {
    return (await this.store.entries('t')).filter(({ payload }) =>
      payload.includes('"args":"order"'),
    ).length;
  }

  /** When nothing is open in the log but what waits for a person. */
  async settled(by: Process): Promise<number> {
    const left = await vi.waitFor(
      async () => {
        const open = await by.assize.effects();
        const left = open.filter(({ effects }) =>
          effects.some(({ phase }) => /in_doubt|unresolved/.test(phase)),
        );
        expect(open).toHaveLength(left.length);
        return left.length;
      },
      { timeout: 300_000, interval: 10 },
    );
    await by.assize.recoverEffects();
    return left;
  }
}

const all = { writ: writFor('alice'), writes: ['test:**'] };

/** Reads and writes a number that is elsewhere, with some time in between. */
function cell(): { readonly tools: Tool[]; readonly at: Map<string, number> } {
  const at = new Map<string, number>();
  const input = z.strictObject({ name: z.string() });
  return {
    at,
    tools: [
      declareTool({
        name: 'cell.read',
        input,
        class: 'read',
        reads: ['cell:{name}'],
        execute: async ({ name }) => {
          await new Promise(setImmediate);
          return at.get(name) ?? 0;
        },
      }),
      declareTool({
        name: 'cell.write',
        input: z.strictObject({ name: z.string(), value: z.number() }),
        class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
        writes: ['cell:{name}'],
        execute: async ({ name, value }) => {
          await new Promise(setImmediate);
          at.set(name, value);
        },
      }),
    ],
  };
}

test('no update is lost between processes, and no transaction restarts', async () => {
  const world = new World();
  const { tools, at } = cell();
  const processes = await world.processes(3, { more: tools });
  let bodies = 0;
  const add = async ({ trajectory }: Process, name: string): Promise<void> => {
    const scope = [`cell:${name}`];
    await trajectory.transaction(
      { ...all, reads: scope, writes: scope, retries: 0 },
      async (tx) => {
        bodies++;
        const value = (await tx.call('cell.read', { name })) as number;
        await tx.call('cell.write', { name, value: value + 1 });
        tx.propose(COUNT);
      },
    );
  };
  await Promise.all(
    processes.flatMap((each) => Array.from({ length: 30 }, (_, i) => add(each, `c${i % 2}`))),
  );
  expect([...at]).toEqual([
    ['c0', 45],
    ['c1', 45],
  ]);
  expect(bodies).toBe(90);
});

test('conflicting transactions act in the order of epochs in all processes', async () => {
  const world = new World();
  const processes = await world.processes(3);
  await Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      processes[i % 3]!.trajectory.transaction(all, async (tx) => {
        await tx.call('reversible.externalised', { what: `${tx.epoch}` });
        await tx.call('irreversible.buffered', { what: `${tx.epoch}` });
        tx.propose(COUNT);
      }),
    ),
  );
  const epochs = world.sink.log.map(({ what }) => Number(what));
  expect(epochs).toHaveLength(60);
  expect(epochs).toEqual(epochs.toSorted((a, b) => a - b));
});

test('a name is executed once for all callers, and all get the same result', async () => {
  const world = new World('blind');
  const processes = await world.processes(3);
  const outcomes = await Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      processes[i % 3]!.trajectory.transaction({ ...all, name: `order-${i % 5}` }, async (tx) => {
        await tx.call('reversible.externalised', { what: `act ${i % 5}` });
        await tx.call('irreversible.buffered', { what: `mail ${i % 5}` });
        tx.propose(COUNT);
      }),
    ),
  );
  for (let i = 0; i < 5; i++) {
    const of = outcomes.filter((_, at) => at % 5 === i);
    const entries = of.map(({ ruling }) =>
      ruling.ruling === 'committed' ? ruling.entry.id : undefined,
    );
    expect(new Set(entries).size).toBe(1);
    expect(entries[0]).toBeDefined();
    expect([world.sink.times('do', `act ${i}`), world.sink.times('do', `mail ${i}`)]).toEqual([
      1, 1,
    ]);
  }
});

test('a late claim is stale if a later epoch of another process was there', async () => {
  const [one, other] = (await new World().processes(2)) as [Process, Process];
  const was = Promise.withResolvers<void>();
  const late = one.trajectory.transaction(
    { ...all, writes: ['test:mine'], retries: 0 },
    async (tx) => {
      await was.promise;
      await tx.expand({ writes: ['test:r'] });
    },
  );
  const failed = expect(late).rejects.toMatchObject({ code: 'stale' });
  await other.trajectory.transaction({ ...all, writes: ['test:r'] }, (tx) => tx.propose(COUNT));
  was.resolve();
  await failed;
  // The scope that it claimed without success blocks no other transaction.
  await other.trajectory.transaction({ ...all, writes: ['test:r'] }, (tx) => tx.propose(COUNT));
});

test('a claim in time makes later transactions of another process wait', async () => {
  const world = new World();
  const [one, other] = (await world.processes(2)) as [Process, Process];
  const grown = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const old = one.trajectory.transaction({ ...all, writes: ['test:mine'] }, async (tx) => {
    await tx.expand({ writes: ['test:r'] });
    grown.resolve();
    await go.promise;
    await tx.call('irreversible.buffered', { what: 'old' });
    tx.propose(COUNT);
  });
  await grown.promise;
  const young = other.trajectory.transaction({ ...all, writes: ['test:r'] }, async (tx) => {
    await tx.call('irreversible.buffered', { what: 'young' });
    tx.propose(COUNT);
  });
  go.resolve();
  await Promise.all([old, young]);
  expect(world.sink.log.map(({ what }) => what)).toEqual(['old', 'young']);
});

test('a failure after the commit is compensated and handled once, at any crash', async () => {
  let ends = 0;
  for (let endAt = 1; ; endAt++) {
    const world = new World('queryable');
    world.fault = (of, what) => (of === 'do' && what === 'no' ? 'fail_for_good' : 'none');
    const other = await world.process({ leaseMs: LEASE_MS });
    await other.assize.create(orders, { trajectoryId: 'o' });
    // From now on it is a member, and takes over what others leave.
    await other.assize.recoverEffects();
    const steps = new Steps(endAt);
    const one = await world.process({ steps, leaseMs: LEASE_MS });
    const ordered = one.assize.open('o').then((trajectory) =>
      trajectory.transaction(all, async (tx) => {
        await tx.call('reversible.externalised', { what: 'acted' });
        await tx.call('reversible.buffered', { what: 'held' });
        await tx.call('reversible.buffered', { what: 'no' });
        await tx.call('irreversible.buffered', { what: 'mail' });
        tx.propose({ action: 'order', role: 'counter', args: 'o1' });
      }),
    );
    const outcome = await Promise.race([ordered, steps.ended]);
    expect(await world.settled(other)).toBe(0);
    // The last event is published with a later one, or at close.
    await Promise.all([other, ...(steps.isDead ? [] : [one])].map(({ assize }) => assize.close()));
    const committed = (await world.store.entries('o')).filter(({ kind }) => kind === 'commit');
    const count = (args: string) =>
      committed.filter(({ payload }) => payload.includes(`"args":"${args}"`)).length;
    expect(count('no o1')).toBe(count('o1'));
    expect(count('o1')).toBeLessThanOrEqual(1);
    for (const what of ['acted', 'held', 'mail'])
      expect([what, world.sink.standing(what)]).toEqual([what, 0]);
    expect(world.sink.times('do', 'mail')).toBe(0);
    await expectEffectLogMatches(world.store, 'o', []);
    if (steps.isDead) ends++;
    else {
      expect(outcome).toMatchObject({ effects: 'failed', failure: { ruling: 'committed' } });
      break;
    }
  }
  expect(ends).toBeGreaterThan(10);
});

describe('an unresolved effect', () => {
  async function doubt(): Promise<{ world: World; one: Process; other: Process; epoch: number }> {
    const world = new World('blind');
    const [one, other] = (await world.processes(2)) as [Process, Process];
    world.fault = () => 'lose';
    const { epoch, effects } = await one.trajectory.transaction(
      { ...all, writes: ['test:r'] },
      async (tx) => {
        await tx.call('irreversible.buffered', { what: 'mail' });
        tx.propose(COUNT);
      },
    );
    world.fault = () => 'none';
    expect(effects).toBe('needs_human');
    return { world, one, other, epoch: epoch! };
  }

  const at = { ...all, writes: ['test:r'] };
  const nothing = (tx: { propose(intent: typeof COUNT): void }): void => tx.propose(COUNT);
  const found = { n: 0, by: 'ops', writ: operatorWrit(), evidence: 'it came' } as const;

  test('is named to every process in its scope, and all other work continues', async () => {
    const { one, other, epoch } = await doubt();
    for (const { trajectory, assize } of [one, other]) {
      await expect(trajectory.transaction(at, nothing)).rejects.toMatchObject({
        code: 'resource_in_doubt',
      });
      await trajectory.transaction({ ...all, writes: ['test:else'] }, nothing);
      expect(await assize.recoverEffects()).toMatchObject([{ epoch, n: 0, phase: 'in_doubt' }]);
    }
  });

  test('is decided in any process, once, and is free in all then', async () => {
    const { world, one, other, epoch } = await doubt();
    const decided = await Promise.allSettled(
      [one, other].map(({ assize }) => assize.resolveEffect({ ...found, epoch, as: 'applied' })),
    );
    expect(decided.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const refused = decided.find((each) => each.status === 'rejected');
    expect(['already_done', 'wrong_state']).toContain(refused?.reason.code);
    for (const { trajectory } of [one, other]) await trajectory.transaction(at, nothing);
    expect(world.sink.times('do', 'mail')).toBe(1);
  });

  test('is submitted once, even if another process decides on it immediately', async () => {
    const world = new World('blind');
    const deciding: { now?: () => Promise<unknown> } = {};
    // The other process decides while the first one checks whether the effect is submitted.
    const over = (store: MemoryStore): MemoryStore =>
      new Proxy(store, {
        get(target, name) {
          const member = Reflect.get(target, name) as unknown;
          if (typeof member !== 'function') return member;
          if (name !== 'head') return member.bind(target);
          return async (...args: unknown[]) => {
            const { now } = deciding;
            delete deciding.now;
            await now?.();
            return Reflect.apply(member, target, args);
          };
        },
      });
    const one = await world.process({ over });
    const other = await world.process();
    let isDecided = false;
    const decide = async (epoch: number): Promise<void> => {
      await other.assize.resolveEffect({ ...found, epoch, as: 'applied' });
      isDecided = true;
    };
    world.fault = () => {
      deciding.now = async () => {
        const open = await world.store.openEffects();
        // Not while it is at work: that is not waited for.
        for (let turn = 0; turn < 50 && !isDecided; turn++)
          await decide(open[0]!.epoch).catch(() => nextTurn());
      };
      return 'lose';
    };
    const { epoch } = await one.trajectory.transaction(
      { ...all, writes: ['test:r'] },
      async (tx) => {
        await tx.call('irreversible.buffered', { what: 'mail' });
        tx.propose(COUNT);
      },
    );
    world.fault = () => 'none';
    // As soon as the other process has applied the event.
    if (!isDecided) await vi.waitFor(() => decide(epoch!), { timeout: 300_000 });
    expect(await one.assize.recoverEffects()).toEqual([]);
    await expectEffectLogMatches(world.store, 't', []);
  });

  test('stays unresolved after its process ends, for present and later processes', async () => {
    const { world, one, other, epoch } = await doubt();
    await one.assize.close();
    await expect(other.trajectory.transaction(at, nothing)).rejects.toMatchObject({
      code: 'resource_in_doubt',
    });
    const third = await world.process();
    await expect(third.trajectory.transaction(at, nothing)).rejects.toMatchObject({
      code: 'resource_in_doubt',
    });
    expect(await third.assize.resolveEffect({ ...found, epoch, as: 'residue' })).toMatchObject({
      unresolved: 0,
    });
    await other.trajectory.transaction(at, nothing);
  });
});

test('a transaction left for lack of a tool resumes when its holder has ended', async () => {
  const world = new World();
  const steps = new Steps();
  // When its commit is durable, and nothing of it is done yet.
  const dying = await world.process({ steps: new Steps(4) });
  await Promise.race([
    dying.trajectory.transaction({ ...all, writes: ['test:r'] }, async (tx) => {
      await tx.call('reversible.buffered', { what: 'held' });
      tx.propose(COUNT);
    }),
    dying.steps.ended,
  ]);
  expect([dying.steps.isDead, world.sink.log]).toEqual([true, []]);
  const bare = await world.process({ steps, without: true });
  expect(await bare.assize.recoverEffects()).toEqual([]);
  const able = await world.process();
  const at = { ...all, writes: ['test:r'] };
  await expect(able.trajectory.transaction(at, (tx) => tx.propose(COUNT))).rejects.toMatchObject({
    code: 'resource_in_doubt',
  });
  // A process that ends in order publishes its end: no other process must search.
  await bare.assize.close();
  expect(await world.settled(able)).toBe(0);
  expect(world.sink.times('do', 'held')).toBe(1);
  await able.trajectory.transaction(at, (tx) => tx.propose(COUNT));
});

describe('a transaction that only another process can complete', () => {
  /**
   * A commit without executed effects, a process that lacks its tools, and another process that has
   * them.
   */
  async function left(): Promise<{ world: World; bare: Process; able: Process }> {
    const world = new World();
    const dying = await world.process({ steps: new Steps(4), leaseMs: LEASE_MS });
    await Promise.race([
      dying.trajectory.transaction({ ...all, writes: ['test:r'] }, async (tx) => {
        await tx.call('reversible.buffered', { what: 'held' });
        tx.propose(COUNT);
      }),
      dying.steps.ended,
    ]);
    const bare = await world.process({ without: true });
    expect(await bare.assize.recoverEffects()).toEqual([]);
    expect(world.sink.log).toEqual([]);
    expect(await bare.assize.effects()).toMatchObject([
      { phase: 'committed', needs: { tools: ['reversible.buffered'] } },
    ]);
    return { world, bare, able: await world.process() };
  }

  test('is resumed by that process on recovery, while the first still works', async () => {
    const { world, bare, able } = await left();
    expect(await able.assize.recoverEffects()).toEqual([]);
    expect(world.sink.times('do', 'held')).toBe(1);
    expect(await bare.assize.recoverEffects()).toEqual([]);
    for (const { trajectory } of [bare, able])
      await trajectory.transaction({ ...all, writes: ['test:r'] }, (tx) => tx.propose(COUNT));
  });

  test('is resumed by that process automatically, if it stays incomplete', async () => {
    const { world, able } = await left();
    // From then on it applies the events of abandoned transactions.
    await able.trajectory.transaction({ ...all, writes: ['test:elsewhere'] }, (tx) =>
      tx.propose(COUNT),
    );
    await vi.waitFor(() => expect(world.sink.times('do', 'held')).toBe(1), { timeout: 300_000 });
    expect(await world.settled(able)).toBe(0);
  });

  test('is handed to and fro by none that lack it', async () => {
    const { world, bare } = await left();
    const store = world.store as MemoryStore & SharedEffectStore;
    const others = await world.processes(2, { without: true });
    for (let round = 0; round < 3; round++)
      for (const { assize } of [bare, ...others]) expect(await assize.recoverEffects()).toEqual([]);
    const heard = await store.joinEffects({ leaseMs: NEVER });
    const said = await heard.exchange(0, [], false);
    await heard.release();
    // Each has tried it once.
    expect(said?.filter(({ is }) => is === 'own').length).toBeLessThanOrEqual(3);
  });

  test('is resumed if it lacked the domain that handles its failure', async () => {
    const world = new World();
    world.fault = (of) => (of === 'do' ? 'fail_for_good' : 'none');
    let isFull = true;
    const dying = await world.process({
      over: (store) =>
        new Proxy(store, {
          get(target, name) {
            const member = Reflect.get(target, name) as unknown;
            if (typeof member !== 'function') return member;
            if (name !== 'commit') return member.bind(target);
            return (batch: { readonly entries: readonly { readonly payload: string }[] }) =>
              isFull && batch.entries.some(({ payload }) => payload.includes('"no o1"'))
                ? Promise.reject(new Error('the disk is full'))
                : Reflect.apply(member, target, [batch]);
          },
        }),
    });
    const trajectory = await dying.assize.create(orders, { trajectoryId: 'o' });
    const done = trajectory.transaction({ ...all, writes: ['test:r'] }, async (tx) => {
      await tx.call('reversible.buffered', { what: 'no van' });
      tx.propose({ action: 'order', role: 'counter', args: 'o1' });
    });
    await expect(done).rejects.toThrow('the disk is full');
    const bare = await world.process({ domains: [tally] });
    await dying.assize.close();
    await vi.waitFor(
      async () => {
        expect(await bare.assize.recoverEffects()).toEqual([]);
        expect(await bare.assize.effects()).toMatchObject([
          { phase: 'failing', needs: { domain: { name: 'orders' } } },
        ]);
      },
      { timeout: 300_000 },
    );
    isFull = false;
    const able = await world.process();
    expect(await able.assize.recoverEffects()).toEqual([]);
    expect(await able.assize.effects()).toEqual([]);
    expect((await able.assize.open('o')).state()).toEqual({ done: { o1: 1, 'no o1': 1 } });
  });
});

test('a transaction resumes in its process after a temporary write failure', async () => {
  const world = new World();
  let failing = false;
  const process = await world.process({
    over: (store) =>
      new Proxy(store, {
        get(target, name) {
          const member = Reflect.get(target, name) as unknown;
          if (typeof member !== 'function') return member;
          if (name !== 'logEffects') return member.bind(target);
          return (...args: unknown[]) =>
            failing
              ? Promise.reject(new Error('the disk is full'))
              : Reflect.apply(member, target, args);
        },
      }),
  });
  const { effects } = await process.trajectory
    .transaction({ ...all, writes: ['test:r'] }, async (tx) => {
      await tx.call('irreversible.buffered', { what: 'mail' });
      tx.propose(COUNT);
      failing = true;
    })
    .catch(() => ({ effects: 'failed' }));
  expect([effects, world.sink.log]).toEqual(['failed', []]);
  failing = false;
  await vi.waitFor(() => expect(world.sink.times('do', 'mail')).toBe(1), { timeout: 300_000 });
  expect(await world.settled(process)).toBe(0);
  await process.trajectory.transaction({ ...all, writes: ['test:r'] }, (tx) => tx.propose(COUNT));
});

test.each(['was committed', 'is undone'])(
  'the scope of a transaction that %s is free despite a failed end record',
  async (what) => {
    const world = new World();
    let failing = true;
    let failed = 0;
    const saysEnd = ({ records = [] }: EffectWrite): boolean =>
      records.some(({ record }) => /"is":"(settled|aborted)"/.test(record));
    const one = await world.process({
      over: (store) =>
        new Proxy(store, {
          get(target, name) {
            const member = Reflect.get(target, name) as unknown;
            if (typeof member !== 'function') return member;
            if (name !== 'logEffects' && name !== 'commit') return member.bind(target);
            return async (
              given: EffectWrite & { readonly effects?: EffectWrite },
              ...rest: unknown[]
            ) => {
              if (failing && saysEnd(name === 'commit' ? (given.effects ?? given) : given)) {
                failed++;
                throw new Error('the disk is full');
              }
              return Reflect.apply(member, target, [given, ...rest]);
            };
          },
        }),
    });
    const other = await world.process();
    const at = { ...all, writes: ['test:r'] };
    const made = one.trajectory.transaction(at, async (tx) => {
      await tx.call('reversible.externalised', { what: 'acted' });
      if (what === 'is undone') throw new Error('undo it');
      tx.propose(COUNT);
    });
    await made.catch((error: Error) => expect(error.message).toBe('undo it'));
    await vi.waitFor(() => expect(failed).toBeGreaterThan(0), { timeout: 300_000, interval: 1 });
    failing = false;
    // Nothing else happens at the first one, and the other never looks.
    await other.trajectory.transaction(at, (tx) => tx.propose(COUNT));
    expect(await world.settled(other)).toBe(0);
    expect(world.sink.standing('acted')).toBe(what === 'is undone' ? 0 : 1);
  },
);

const WHATS = ['acted', 'held', 'for good'] as const;

function work(
  { trajectory }: Process,
  options: object = {},
  whats: readonly string[] = WHATS,
): Promise<unknown> {
  return trajectory.transaction(
    { ...all, writes: ['test:a', 'test:b'], ...options },
    async (tx) => {
      if (whats.includes('acted'))
        await tx.call('reversible.externalised', { what: 'acted', at: 'a' });
      await tx.call('reversible.buffered', { what: 'held', at: 'b' });
      await tx.call('irreversible.buffered', { what: 'for good', at: 'b' });
      tx.propose(COUNT);
    },
  );
}

async function check(world: World, left: number, whats: readonly string[] = WHATS): Promise<void> {
  const committed = (await world.store.entries('t')).some(({ payload }) =>
    payload.includes('"args":"order"'),
  );
  for (const what of WHATS) expect(world.sink.times('do', what)).toBeLessThanOrEqual(1);
  if (left > 0) return;
  for (const what of whats)
    expect([what, world.sink.standing(what)]).toEqual([what, committed ? 1 : 0]);
}

describe.each<Sink>(['keyed', 'queryable', 'blind'])(
  'with a %s sink, one of two processes',
  (sort) => {
    test('ends at any step: the other adopts its work without stopping its own', async () => {
      const seen = { left: 0, clean: 0 };
      for (let endAt = 1; ; endAt++) {
        const world = new World(sort);
        const other = await world.process({ leaseMs: PATIENT_MS });
        const dying = await world.process({ steps: new Steps(endAt), leaseMs: LEASE_MS });
        const worked = work(dying).then(() => dying.assize.close());
        const isLost = await Promise.race([worked, dying.steps.ended]).then(
          () => false,
          (error) => {
            if (error.code === 'lease_lost') return true;
            throw error;
          },
        );
        // On a very busy machine, another process can adopt the work before this one ends: the loop
        // repeats the step.
        if (isLost && !dying.steps.isDead) {
          endAt--;
          continue;
        }
        if (!dying.steps.isDead) break;
        await other.trajectory.transaction({ ...all, writes: ['test:else'] }, (tx) =>
          tx.propose({ ...COUNT, args: 'other' }),
        );
        const left = await world.settled(other);
        await check(world, left);
        seen[left > 0 ? 'left' : 'clean']++;
        // The scope that it had claimed is free, or in doubt.
        const again = work(other, { name: 'again' }).catch((error) => error.code);
        expect((await again) === 'resource_in_doubt').toBe(left > 0);
      }
      expect(seen.clean).toBeGreaterThan(0);
      expect(seen.left > 0).toBe(sort === 'blind');
    });

    test.each([
      ['', WHATS],
      [', with all of it held until then', WHATS.slice(1)],
    ])('hangs at any step, wakes after an adoption, and does nothing more%s', async (_, whats) => {
      for (let endAt = 1; ; endAt++) {
        const world = new World(sort);
        const other = await world.process({ leaseMs: PATIENT_MS });
        const hanging = await world.process({ steps: new Steps(endAt, true), leaseMs: LEASE_MS });
        const worked = work(hanging, {}, whats).then(
          () => hanging.assize.close().then(() => 'done'),
          (error) => error.code as string,
        );
        await Promise.race([worked, hanging.steps.ended]);
        if (!hanging.steps.isDead) break;
        // A conflicting transaction waits for one lease at most.
        await other.trajectory
          .transaction({ ...all, writes: ['test:a', 'test:b'] }, (tx) =>
            tx.propose({ ...COUNT, args: 'other' }),
          )
          .catch((error) => expect(error.code).toBe('resource_in_doubt'));
        const left = await world.settled(other);
        const before = world.sink.log.length;
        const entries = await world.orders();
        hanging.steps.revive();
        const outcome = await worked;
        // Entries that were not written at the adoption are not written later.
        expect(await world.orders()).toBe(entries);
        // A call that was on its way when it hung arrives all the same: a blind sink can't tell.
        if (sort === 'blind') expect(world.sink.log.length - before).toBeLessThanOrEqual(1);
        else
          expect(
            world.sink.log.slice(before).every(({ did }) => did === 'again' || did === 'do'),
          ).toBe(true);
        if (outcome !== 'done')
          expect(['lease_lost', 'commit_unknown', 'outcome_unknown']).toContain(outcome);
        if (sort === 'keyed') await check(world, left, whats);
      }
    });
  },
);
