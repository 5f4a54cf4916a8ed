import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MemoryStore } from '@assize/testing/memory';
import { expect, test, vi } from 'vitest';
import { seededRandom } from '#oracle';
import { type Assize, RuntimeError } from '#runtime';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import {
  type Outside,
  Steps,
  tally,
  toolFor,
} from '../../../../../tests/support/tools/effect-sink.ts';
import { OutlivingWorld } from '../../../../../tests/support/tools/surviving-world.ts';

// A process that opens a trajectory resumes its abandoned transactions. It blocks no other process,
// and no other opening.

class World extends OutlivingWorld {
  constructor() {
    super('keyed', tally, [['reversible', 'externalised']]);
  }

  async check(): Promise<void> {}
}

/** One immediate call at a place. */
const transact = async (assize: Assize, at = 'r', trajectoryId = 't') =>
  (await assize.open(trajectoryId)).transaction(
    { writ: writFor('alice'), writes: [`test:${at}`], signal: AbortSignal.timeout(300_000) },
    async (tx) => {
      await tx.call('reversible.externalised', { what: at, at });
      tx.propose({ action: 'count', role: 'counter', args: at });
    },
  );

/** Ends a process in the middle of a transaction. */
async function leave(world: World, trajectoryId = 't'): Promise<void> {
  for (let endAt = 1; (await world.store.openEffects()).length === 0; endAt++)
    await world.process(endAt, (assize) => transact(assize, 'r', trajectoryId));
}

interface Stage {
  readonly world: World;
  readonly store: MemoryStore;
  readonly opener: Assize;
  /** Whether the lease is granted, so that no other process holds it. */
  readonly isFree: () => Promise<boolean>;
  readonly isAllDone: () => Promise<void>;
}

/** `undo`: a promise that the compensation of abandoned effects waits for. */
async function stage(
  given: {
    through?: (store: MemoryStore) => MemoryStore;
    undo?: Promise<void>;
    isLeft?: boolean;
  } = {},
): Promise<Stage> {
  const { through = (store) => store, undo, isLeft = true } = given;
  const world = await new World().begin();
  if (isLeft) await leave(world);
  const { store } = world;
  const outside: Outside = { sink: world.sink, steps: new Steps() };
  const tool = toolFor(outside, 'reversible', 'externalised');
  const tools = [undo === undefined ? tool : waiting(tool, undo)];
  const opener = runtimeOver(through(store), [tally], {
    tools,
    ports: { random: seededRandom('opener') },
  });
  const isFree = async (): Promise<boolean> => {
    const wait = new AbortController();
    const tenure = store.leaseEffects(wait.signal).catch(() => undefined);
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    wait.abort();
    const held = await tenure;
    await held?.release();
    return held !== undefined;
  };
  const isAllDone = () =>
    vi.waitFor(async () => expect(await store.openEffects()).toEqual([]), {
      interval: 1,
      timeout: 300_000,
    });
  return { world, store, opener, isFree, isAllDone };
}

type Tool = ReturnType<typeof toolFor>;

function waiting(tool: Tool, undo: Promise<void>): Tool {
  const { spec } = tool;
  const compensate = async (...given: unknown[]): Promise<unknown> => {
    await undo;
    return Reflect.apply(spec.compensate!, spec, given);
  };
  return Object.create(tool, { spec: { value: { ...spec, compensate } } });
}

/** A store with some of its methods replaced. */
function withMembers(
  store: MemoryStore,
  members: { readonly [name: string]: (...given: any[]) => unknown },
) {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = members[String(name)] ?? Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

test('an opener keeps the lease only while it works; another process continues', async () => {
  const { world, store, opener, isAllDone } = await stage();
  await opener.open('t');
  await isAllDone();
  const outside: Outside = { sink: world.sink, steps: new Steps() };
  const worker = runtimeOver(store, [tally], {
    ports: { random: seededRandom('worker') },
    tools: [toolFor(outside, 'reversible', 'externalised')],
  });
  expect((await transact(worker)).ruling.ruling).toBe('committed');
  expect(world.sink.standing('r')).toBe(1);
  await worker.close();
  await opener.close();
});

test('an opener keeps the lease if another caller here has requested it', async () => {
  const { promise: undo, resolve: goOn } = Promise.withResolvers<void>();
  const { opener, isFree, isAllDone } = await stage({ undo });
  await opener.open('t');
  await vi.waitFor(async () => expect(await isFree()).toBe(false), {
    interval: 1,
    timeout: 300_000,
  });
  expect((await transact(opener, 'other')).ruling.ruling).toBe('committed');
  goOn();
  await isAllDone();
  expect(await isFree()).toBe(false);
  await opener.close();
  expect(await isFree()).toBe(true);
});

test('the abort reason is recorded, and the lease is acquired again on demand', async () => {
  const { world, store, opener, isFree, isAllDone } = await stage();
  await opener.open('t');
  await isAllDone();
  await vi.waitFor(async () => expect(await isFree()).toBe(true), {
    interval: 1,
    timeout: 300_000,
  });
  expect(world.sink.standing('r')).toBe(0);
  expect((await store.entries('t')).at(-1)?.kind).toBe('rejection');
  expect((await transact(opener)).ruling.ruling).toBe('committed');
  expect(await isFree()).toBe(false);
  await opener.close();
});

test('an earlier failed wait does not keep a later opening from resuming', async () => {
  let isBroken = true;
  const { opener, isAllDone } = await stage({
    through: (store) =>
      withMembers(store, {
        leaseEffects: (signal) =>
          isBroken ? Promise.reject(new Error('the disk is full')) : store.leaseEffects(signal),
      }),
  });
  await expect(opener.recoverEffects()).rejects.toThrow('the disk is full');
  isBroken = false;
  await opener.open('t');
  await isAllDone();
  await opener.close();
});

test('an aborted wait does not keep a later opening from resuming', async () => {
  const { store, opener, isAllDone } = await stage();
  const other = await store.leaseEffects();
  const enough = new AbortController();
  const wait = opener.recoverEffects(enough.signal);
  enough.abort(new Error('enough'));
  const opened = opener.open('t');
  await expect(wait).rejects.toThrow('enough');
  await opened;
  await other.release();
  await isAllDone();
  await opener.close();
});

/** An opener with a store that answers reads of the log when it is released. */
async function slow() {
  const { promise: answer, resolve: goOn } = Promise.withResolvers<void>();
  const seen = { begun: 0, over: 0 };
  const openEffects = async (below: MemoryStore) => {
    seen.begun++;
    await answer;
    const open = await below.openEffects();
    seen.over++;
    return open;
  };
  const through = (below: MemoryStore) =>
    withMembers(below, { openEffects: () => openEffects(below) });
  return { ...(await stage({ isLeft: false, through })), goOn, seen };
}

test('no opening waits for the log; joint openings read it once', async () => {
  const { store, opener, goOn, seen } = await slow();
  const setup = runtimeOver(store, [tally]);
  const names = Array.from({ length: 20 }, (_, i) => `t${i}`);
  for (const trajectoryId of names) await setup.create(tally, { trajectoryId });
  await Promise.all(names.map((name) => opener.open(name)));
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  goOn();
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  await opener.close();
  expect(seen).toEqual({ begun: 1, over: 1 });
});

test('close waits for the current read and starts no other', async () => {
  const { opener, goOn, seen } = await slow();
  await opener.open('t');
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  const closing = opener.close().then(() => ({ ...seen }));
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  goOn();
  expect(await closing).toEqual({ begun: 1, over: 1 });
});

test('work left after the log was read is resumed by the next opening', async () => {
  const { promise: answer, resolve: goOn } = Promise.withResolvers<void>();
  const { world, store, opener, isAllDone } = await stage({
    isLeft: false,
    through: (below) =>
      withMembers(below, {
        openEffects: async () => {
          const open = await below.openEffects();
          await answer;
          return open;
        },
      }),
  });
  await runtimeOver(store, [tally]).create(tally, { trajectoryId: 'u' });
  await opener.open('u');
  await nextTurn();
  await leave(world);
  await opener.open('t');
  goOn();
  await isAllDone();
  await opener.close();
});

test('an unreadable log blocks neither opening nor close', async () => {
  const { opener, store } = await stage({
    through: (below) =>
      withMembers(below, { openEffects: () => Promise.reject(new Error('the disk is gone')) }),
  });
  await opener.open('t');
  await nextTurn();
  await opener.close();
  expect(await store.openEffects()).toHaveLength(1);
});

test('after close the lease is neither granted nor kept any more', async () => {
  const { opener, isFree, world } = await stage();
  const trajectory = await opener.open('t');
  await opener.close();
  const then = world.sink.log.length;
  const late = trajectory.transaction(
    { writ: writFor('alice'), writes: ['test:r'] },
    async (tx) => {
      await tx.call('reversible.externalised', { what: 'late' });
      tx.propose({ action: 'count', role: 'counter', args: 'late' });
    },
  );
  await expect(late).rejects.toBeInstanceOf(RuntimeError);
  await expect(late).rejects.toMatchObject({ code: 'closed' });
  await expect(opener.recoverEffects()).rejects.toMatchObject({ code: 'closed' });
  expect(world.sink.log).toHaveLength(then);
  expect(await isFree()).toBe(true);
});
