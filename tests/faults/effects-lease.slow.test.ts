import { MemoryStore } from '@assize/testing/memory';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { declareTool, type Sink } from '#effects';
import type { Assize, Trajectory, Transaction } from '#runtime';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import {
  type Fault,
  type Outside,
  OutsideSink,
  Steps,
  tally,
  toolFor,
} from '../support/tools/effect-sink.ts';
import { codeOf, hanging, never } from './hanging-tools.ts';

// How long an unresponsive part blocks others if no timeout is declared: no longer than the lease
// of a transaction. One or several parts of the transaction can be unresponsive. Two processes
// share a store here. Time stands still, and passes when a test says so.

const writ = writFor('alice');
const COUNT = { action: 'count', role: 'counter', args: 'order' } as const;
const ACT = 'reversible.externalised';
const HELD = 'irreversible.buffered';
/** `blockTimeoutMs`, by default. */
const HOLD_MS = 120_000;
const STEP_MS = 100;
/** Each try of a call may take a step more than its time. */
const SLACK_MS = 40 * STEP_MS;
/** Of the event loop, in which as much is done as there is to do before time goes on. */
const TURNS = 20;

beforeEach(
  () =>
    void vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
    }),
);
afterEach(() => void vi.useRealTimers());

interface World {
  readonly sink: OutsideSink;
  /** The trajectory with the unresponsive transactions. */
  readonly one: Trajectory;
  /** A trajectory of another process. */
  readonly other: Trajectory;
  readonly assize: Assize;
  close(): Promise<void>;
}

async function world(
  fault: NonNullable<Outside['fault']> = () => 'none',
  sort: Sink = 'keyed',
  tries = 3,
) {
  const sink = new OutsideSink(sort);
  const outside = { sink, steps: new Steps(), fault };
  const tools = [
    toolFor(outside, 'reversible', 'externalised'),
    toolFor(outside, 'irreversible', 'buffered'),
    ...hanging,
  ];
  const store = new MemoryStore({ shared: true });
  const processOf = () =>
    runtimeOver(store, [tally], {
      tools,
      effects: { maxAttempts: tries },
      ports: { pause: waits },
    });
  const [assize, beside] = [processOf(), processOf()];
  const one = await assize.create(tally, { trajectoryId: 'one' });
  const other = await beside.create(tally, { trajectoryId: 'other' });
  const close = async (): Promise<void> =>
    void (await Promise.all([assize.close(), beside.close()]));
  return { sink, one, other, assize, close } satisfies World;
}

/** As long as a pause may be. */
function waits(_: number, longest: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, longest));
}

/**
 * Acts once, in a scope that it claims, and commits. Returns the result, and the time when the
 * transaction was settled or refused.
 */
async function follower(
  trajectory: Trajectory,
  what: string,
  at: string,
): Promise<{ is: unknown; ms: number }> {
  const made = trajectory.transaction({ writ, writes: [`test:${at}`], retries: 0 }, async (tx) => {
    await tx.call(ACT, { what, at });
    tx.propose(COUNT);
  });
  const is = await codeOf(made);
  return { is, ms: performance.now() };
}

/**
 * Lets time pass in steps until the promise settles, so that messages between the two processes
 * arrive in between.
 */
async function passUntil<T>(settled: Promise<T>): Promise<T> {
  let isOver = false;
  void settled.finally(() => {
    isOver = true;
  });
  for (let i = 0; i < (3 * HOLD_MS) / STEP_MS && !isOver; i++) {
    for (let turn = 0; turn < TURNS && !isOver; turn++)
      await new Promise((resolve) => setImmediate(resolve));
    if (!isOver) await vi.advanceTimersByTimeAsync(STEP_MS);
  }
  expect(isOver).toBe(true);
  return settled;
}

type Body = (tx: Transaction) => Promise<unknown>;
const acts = (what: string, tx: Transaction): Promise<unknown> => tx.call(ACT, { what, at: 'r' });

/**
 * The unresponsive part, its sink, its fault there, and its body. Only effects named `held` meet a
 * fault.
 */
const HANGING: readonly [what: string, sort: Sink, fault: (of: string) => Fault, body: Body][] = [
  ['a body', 'keyed', () => 'none', never],
  [
    'a body that has planned',
    'keyed',
    () => 'none',
    (tx) => tx.call(HELD, { what: 'planned', at: 'r' }).then(never),
  ],
  ['a read', 'keyed', () => 'none', (tx) => tx.call('hanging.read', {})],
  ['a plan', 'keyed', () => 'none', (tx) => tx.call('hanging.plan', {})],
  [
    'a branch',
    'keyed',
    () => 'none',
    (tx) => tx.speculate([(one) => acts('branch', one), never], () => 0),
  ],
  ['a choice', 'keyed', () => 'none', (tx) => tx.speculate([(one) => acts('branch', one)], never)],
  ['a call', 'keyed', (of) => (of === 'do' ? 'hang' : 'none'), (tx) => acts('held', tx)],
  ['a call', 'blind', (of) => (of === 'do' ? 'hang' : 'none'), (tx) => acts('held', tx)],
  [
    'a call and what asks for it',
    'queryable',
    (of) => (of === 'undo' ? 'none' : 'hang'),
    (tx) => acts('held', tx),
  ],
  ['a call and what undoes it', 'keyed', () => 'hang', (tx) => acts('held', tx)],
  [
    'what undoes it',
    'keyed',
    (of) => (of === 'undo' ? 'hang' : 'none'),
    (tx) => acts('held', tx).then(() => Promise.reject(new Error('undo it'))),
  ],
  [
    'the body, and then what undoes it',
    'keyed',
    (of) => (of === 'undo' ? 'hang' : 'none'),
    (tx) => acts('held', tx).then(never),
  ],
  [
    'one call after the other',
    'keyed',
    (of) => (of === 'do' ? 'hang' : 'none'),
    async (tx) => {
      for (let i = 0; i < 20; i++) await acts('held', tx).catch(() => undefined);
      return never();
    },
  ],
  [
    'all of ten calls after the commit',
    'keyed',
    () => 'hang',
    async (tx) => {
      for (let i = 0; i < 10; i++) await tx.call(HELD, { what: 'held', at: 'r' });
      tx.propose(COUNT);
    },
  ],
];

describe.each(HANGING)('where %s hangs, of a %s sink', (_, sort, fault, body) => {
  test.each([
    ['another process', 'other'],
    ['its own', 'one'],
  ] as const)(
    'a later transaction in %s waits no longer than a transaction lease',
    async (_, where) => {
      const made = await world((of, what) => (what === 'held' ? fault(of) : 'none'), sort);
      const { sink, one, close } = made;
      const begun = performance.now();
      const holder = codeOf(
        one.transaction({ writ, writes: ['test:r'], retries: 0 }, async (tx) => {
          await acts('first', tx);
          await body(tx);
        }),
      );
      const there = Promise.all([0, 1, 2].map((i) => follower(made[where], `there ${i}`, `s${i}`)));
      const here = Promise.all([0, 1, 2].map((i) => follower(made[where], `here ${i}`, 'r')));
      // No time passes for transactions in other scopes.
      for (const { is, ms } of await passUntil(there))
        expect([is, ms - begun]).toEqual(['done', 0]);
      const ends = await passUntil(here);
      for (const { is, ms } of ends) {
        expect(['done', 'resource_in_doubt']).toContain(is);
        expect(ms - begun).toBeLessThanOrEqual(HOLD_MS + SLACK_MS);
      }
      // No effect runs between the unresponsive one and its compensation.
      const did = sink.log.map(({ what }) => what);
      const first = did.findIndex((what) => what.startsWith('here'));
      if (first !== -1)
        expect(did.slice(first).every((what) => what.startsWith('here'))).toBe(true);
      await passUntil(holder);
      vi.useRealTimers();
      await close();
    },
  );
});

test('a refused call is retried for part of the lease, then is unresolved', async () => {
  const { one, other, assize, sink, close } = await world(
    (of, what) => (what === 'held' && of === 'do' ? 'fail' : 'none'),
    'keyed',
    30,
  );
  const begun = performance.now();
  const holder = one.transaction({ writ, writes: ['test:r'], retries: 0 }, async (tx) => {
    await tx.call(HELD, { what: 'held', at: 'r' });
    tx.propose(COUNT);
  });
  const here = follower(other, 'here', 'r');
  const { is, ms } = await passUntil(here);
  expect([is, ms - begun <= HOLD_MS / 2 + SLACK_MS]).toEqual(['resource_in_doubt', true]);
  expect((await holder).effects).toBe('needs_human');
  expect(sink.standing('held')).toBe(0);
  expect(await assize.recoverEffects()).toMatchObject([{ phase: 'unresolved' }]);
  vi.useRealTimers();
  await close();
});

describe('a transaction with signs of life is not treated as hung', () => {
  const MINUTE = 60_000;
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

  test.each<[string, Body]>([
    ['a call', (tx) => acts('sign', tx)],
    ['a read', (tx) => tx.call('tally.read', {})],
    ['a claim', (tx) => tx.expand({ reads: ['test:more'] })],
    ['a part', (tx) => tx.nested(async () => undefined)],
  ])('%s every 50 s', async (_, sign) => {
    const read = declareTool({
      name: 'tally.read',
      input: z.strictObject({}),
      class: 'read',
      reads: ['test:r'],
      execute: () => 1,
    });
    const sink = new OutsideSink('keyed');
    const tools = [toolFor({ sink, steps: new Steps() }, 'reversible', 'externalised'), read];
    const assize = runtimeOver(new MemoryStore(), [tally], { tools });
    const trajectory = await assize.create(tally);
    const made = trajectory.transaction({ writ, writes: ['test:r'] }, async (tx) => {
      for (let i = 0; i < 4; i++) {
        await pause(MINUTE - 10_000);
        await sign(tx);
      }
      tx.propose(COUNT);
    });
    expect((await passUntil(made)).effects).toBe('settled');
  });

  test('a wait for an older transaction that hangs', async () => {
    const { one, other, close } = await world();
    const holder = codeOf(
      one.transaction({ writ, writes: ['test:r'], idleTimeoutMs: 2 * MINUTE, retries: 0 }, never),
    );
    const waiting = other.transaction(
      { writ, writes: ['test:r', 'test:s'], retries: 0 },
      async (tx) => {
        await acts('waited', tx);
        tx.propose(COUNT);
      },
    );
    expect((await passUntil(waiting)).effects).toBe('settled');
    expect(await holder).toBe('deadline');
    vi.useRealTimers();
    await close();
  });

  test('a longer `idleTimeoutMs` permits silence, else the limit is reported', async () => {
    const { one, close } = await world();
    const silent = async (tx: Transaction) => {
      await pause(MINUTE + 10_000);
      tx.propose(COUNT);
    };
    const told = one.transaction({ writ, idleTimeoutMs: 2 * MINUTE }, silent);
    expect((await passUntil(told)).effects).toBe('settled');
    const untold = one.transaction({ writ, retries: 0 }, silent).catch((error: unknown) => error);
    expect(await passUntil(untold)).toMatchObject({
      code: 'deadline',
      message: expect.stringContaining('It took 60000 ms without activity'),
    });
    vi.useRealTimers();
    await close();
  });
});

test.each([
  [
    { blockTimeoutMs: 99 },
    /effects\.blockTimeoutMs must be a whole number of milliseconds from 100/,
  ],
  [{ blockTimeoutMs: 1.5 }, /blockTimeoutMs/],
  [
    { blockTimeoutMs: 1_000, callTimeoutMs: 251 },
    /effects\.callTimeoutMs .* at most a quarter of effects\.blockTimeoutMs \(1000\)/,
  ],
  [{ callTimeoutMs: 30_001 }, /at most a quarter of effects\.blockTimeoutMs \(120000\)/],
])('limits that do not go together are refused by name: %j', (options, message) => {
  expect(() =>
    runtimeOver(new MemoryStore(), [tally], { tools: [...hanging], effects: options }),
  ).toThrow(message);
});
