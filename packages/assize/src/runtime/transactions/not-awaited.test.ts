import { setImmediate as nextTurn } from 'node:timers/promises';
import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { declareTool } from '#effects';
import type { AssizeOptions, Transaction, TransactionOptions } from '#runtime';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { unhandledIn } from '../../../../../tests/support/process/errors.ts';
import { expectEffectLogMatches } from '../../../../../tests/support/tools/check-effect-log.ts';
import { OutsideSink, Steps, toolFor } from '../../../../../tests/support/tools/effect-sink.ts';
import { attended } from '../../../../../tests/support/tools/ledger-with-effects.ts';

// A call that a body does not await is in its commit or is refused: no call is lost or half
// executed.

const COUNT = { action: 'count', role: 'counter', args: 'order' } as const;

async function stage(options: Partial<AssizeOptions> = {}) {
  const sink = new OutsideSink('keyed');
  const outside = { sink, steps: new Steps() };
  const look = declareTool({
    name: 'look',
    input: z.strictObject({}),
    class: 'read',
    reads: ['test:r'],
    execute: async () => {
      await nextTurn();
      return 1;
    },
  });
  const tools = [
    look,
    toolFor(outside, 'reversible', 'externalised'),
    toolFor(outside, 'reversible', 'buffered'),
    toolFor(outside, 'irreversible', 'externalised'),
  ];
  const store = new MemoryStore();
  const assize = runtimeOver(store, [attended], { tools, ...options });
  const trajectory = await assize.create(attended, { trajectoryId: 't' });
  const claimed: TransactionOptions = {
    writ: writFor('alice'),
    reads: ['test:**'],
    writes: ['test:**'],
  };
  /** The effects that remain, and the number of commits of the body's action. */
  const stands = async () => {
    const left = await assize.recoverEffects();
    await assize.close();
    await expectEffectLogMatches(store, 't', left);
    const commits = (await store.entries('t')).filter(({ payload }) =>
      payload.includes('"args":"order"'),
    ).length;
    return [...new Set(sink.log.map(({ what }) => what))]
      .filter((what) => sink.standing(what) > 0)
      .concat(`${commits}`);
  };
  return { trajectory, options: claimed, stands };
}

const acts = (tx: Transaction, what = 'a') => tx.call('reversible.externalised', { what });
const holds = (tx: Transaction, what = 'a') => tx.call('reversible.buffered', { what });

const WAYS: readonly [
  name: string,
  calls: readonly string[],
  begin: (tx: Transaction) => unknown,
][] = [
  ['a call that acts immediately', ['reversible.externalised'], (tx) => acts(tx)],
  ['one that is held', ['reversible.buffered'], (tx) => holds(tx)],
  ['one that reads', ['look'], (tx) => tx.call('look', {})],
  [
    'one that has to be approved',
    ['irreversible.externalised'],
    (tx) => tx.call('irreversible.externalised', { what: 'a' }),
  ],
  ['two', ['reversible.buffered', 'reversible.externalised'], (tx) => [holds(tx), acts(tx, 'b')]],
  ['a part', ['nested'], (tx) => tx.nested((part) => acts(part))],
  ['branches', ['speculate'], (tx) => tx.speculate([(branch) => acts(branch)], () => 0)],
  ['a claim', ['expand'], (tx) => tx.expand({ writes: ['more:1'] })],
  ['a claim that is given up', ['release'], (tx) => tx.release({ reads: ['test:**'] })],
];

for (const named of [{}, { name: 'order 1' }, { epoch: 'late' as const }])
  test.each(WAYS)(
    `%s fails the transaction without any effect: ${JSON.stringify(named)}`,
    async (_, calls, begin) => {
      const { trajectory, options, stands } = await stage();
      let bodies = 0;
      const done = trajectory.transaction({ ...options, ...named }, (tx) => {
        bodies++;
        void begin(tx);
        tx.propose(COUNT);
      });
      await expect(done).rejects.toMatchObject({
        reason: 'not_awaited',
        evidence: { calls },
        message: expect.stringContaining(calls[0] as string),
      });
      expect(bodies).toBe(1);
      expect(await stands()).toEqual(['0']);
    },
  );

test('effects before it are compensated; a fixed body commits with that name', async () => {
  const { trajectory, options, stands } = await stage();
  const run = (isAwaited: boolean) =>
    trajectory.transaction({ ...options, name: 'order 1' }, async (tx) => {
      await acts(tx, 'first');
      const second = acts(tx, 'second');
      if (isAwaited) await second;
      tx.propose(COUNT);
    });
  await expect(run(false)).rejects.toMatchObject({ reason: 'not_awaited' });
  expect((await run(true)).ruling.ruling).toBe('committed');
  expect(await stands()).toEqual(['first', 'second', '1']);
});

test('a nested part that does not await is aborted, and the rest continues', async () => {
  const { trajectory, options, stands } = await stage();
  const { ruling } = await trajectory.transaction(options, async (tx) => {
    await acts(tx, 'first');
    const part = tx.nested(async (inner) => {
      await acts(inner, 'in part');
      void acts(inner, 'not awaited');
      void holds(inner, 'not awaited either');
    });
    await expect(part).rejects.toMatchObject({ reason: 'not_awaited' });
    tx.propose(COUNT);
  });
  expect(ruling.ruling).toBe('committed');
  expect(await stands()).toEqual(['first', '1']);
});

test('a body’s error is reported, and unawaited calls are reverted or not run', async () => {
  const { trajectory, options, stands } = await stage();
  const done = trajectory.transaction({ ...options, retries: 0 }, async (tx) => {
    await acts(tx, 'first');
    void acts(tx, 'second');
    void holds(tx, 'third');
    throw new Error('it has had enough');
  });
  await expect(done).rejects.toThrow('it has had enough');
  expect(await stands()).toEqual(['0']);
});

test('calls awaited late or together are in the commit', async () => {
  const { trajectory, options, stands } = await stage();
  const { value } = await trajectory.transaction(options, async (tx) => {
    const first = acts(tx, 'first');
    const others = ['second', 'third'].map((what) => holds(tx, what));
    await Promise.all(others);
    tx.propose(COUNT);
    // Awaited through the return value.
    return first;
  });
  expect(value).toEqual({ did: 'first' });
  expect(await stands()).toEqual(['first', 'second', 'third', '1']);
});

test.each(WAYS)(
  '%s that starts after the body has returned is refused to its caller',
  async (_, __, begin) => {
    const { trajectory, options, stands } = await stage();
    let late: Promise<unknown> | undefined;
    const done = trajectory.transaction(options, (tx) => {
      tx.propose(COUNT);
      queueMicrotask(() => {
        // In the turn after the return.
        late = Promise.resolve().then(() => Promise.all([begin(tx)].flat()));
        late.catch(() => undefined);
      });
    });
    expect((await done).ruling.ruling).toBe('committed');
    await expect(late).rejects.toMatchObject({ reason: 'transaction_over' });
    expect(await stands()).toEqual(['1']);
  },
);

const REFUSED: readonly [
  name: string,
  reason: string,
  begin: (tx: Transaction) => Promise<unknown>,
][] = [
  ['of no tool', 'unknown_tool', (tx) => tx.call('nope', {})],
  ['that does not fit', 'bad_input', (tx) => tx.call('reversible.buffered', { which: 'a' })],
  [
    'outside of the claims',
    'scope_exceeded',
    (tx) => tx.call('reversible.buffered', { what: 'a', at: '../else' }),
  ],
  ['in a part', 'unknown_tool', (tx) => tx.nested((part) => part.call('nope', {}))],
];

test.each(REFUSED)(
  'a call %s that is not awaited fails the transaction, not the process',
  async (_, reason, begin) => {
    for (const later of [false, true]) {
      const { trajectory, options, stands } = await stage();
      const unhandled = await unhandledIn(async () => {
        const done = trajectory.transaction(
          { ...options, reads: ['test:r'], writes: ['test:r'] },
          async (tx) => {
            void begin(tx);
            // The call was refused long before the body returns.
            if (later) for (let turn = 0; turn < 3; turn++) await nextTurn();
            if (later) await acts(tx);
            tx.propose(COUNT);
          },
        );
        await expect(done).rejects.toMatchObject({ reason: 'not_awaited' });
        const { cause, evidence } = (await done.catch((error) => error)) as {
          cause?: { reason: string };
          evidence: { calls: string[] };
        };
        expect(evidence.calls).toHaveLength(1);
        if (later) expect(cause?.reason).toBe(reason);
      });
      expect(unhandled).toEqual([]);
      expect(await stands()).toEqual(['0']);
    }
  },
);

/** Resolves every name, to the same name. */
const RESOLVERS = { test: async (name: string) => [name] };

test.each([
  ['that a resolver is asked about', { effects: { resolvers: RESOLVERS } }, async () => undefined],
  ['that has to wait for its turn', {}, acts],
] as const)('so does one %s', async (_, given, before) => {
  const { trajectory, options, stands } = await stage(given);
  const unhandled = await unhandledIn(async () => {
    const done = trajectory.transaction({ ...options, writes: ['test:r'] }, async (tx) => {
      const first = before(tx);
      void tx.call('reversible.buffered', { what: 'a', at: '../else' });
      await first;
      for (let turn = 0; turn < 3; turn++) await nextTurn();
      tx.propose(COUNT);
    });
    await expect(done).rejects.toMatchObject({
      reason: 'not_awaited',
      cause: { reason: 'scope_exceeded' },
    });
  });
  expect(unhandled).toEqual([]);
  expect(await stands()).toEqual(['0']);
});

const SEEN: readonly [name: string, see: (refused: Promise<unknown>) => Promise<unknown>][] = [
  [
    'by awaiting it late',
    async (refused) => {
      await nextTurn();
      await expect(refused).rejects.toMatchObject({ code: 'unknown_tool' });
    },
  ],
  ['with others', (refused) => Promise.allSettled([refused])],
  ['with catch', async (refused) => void refused.catch(() => undefined)],
  ['with finally', (refused) => refused.finally(() => undefined).catch(() => undefined)],
];

test.each(SEEN)(
  'a refused call that is handled, %s, does not fail the transaction',
  async (_, see) => {
    const { trajectory, options, stands } = await stage();
    const unhandled = await unhandledIn(async () => {
      const { ruling } = await trajectory.transaction(options, async (tx) => {
        const refused = tx.call('nope', {});
        await acts(tx);
        await see(refused);
        tx.propose(COUNT);
      });
      expect(ruling.ruling).toBe('committed');
    });
    expect(unhandled).toEqual([]);
    expect(await stands()).toEqual(['a', '1']);
  },
);

const AGAIN: readonly [name: string, again: (tx: Transaction) => Promise<unknown>][] = [
  ['a tool that there is none', (tx) => tx.call('nope', {})],
  [
    'what it has not claimed',
    (tx) => tx.call('reversible.externalised', { what: 'a', at: '../else' }),
  ],
  ['what is given up twice', (tx) => tx.release({ reads: ['test:nowhere'] })],
  ['a part that fails', (tx) => tx.nested(() => Promise.reject(new Error('no')))],
];

test.each(AGAIN)('repeated attempts at %s do not starve other work', async (_, again) => {
  const { trajectory, options, stands } = await stage();
  let tries = 0;
  const { ruling } = await trajectory.transaction(
    { ...options, writes: ['test:r'] },
    async (tx) => {
      let hasCome = false;
      setImmediate(() => {
        hasCome = true;
      });
      for (; !hasCome && tries < 1_000; tries++) await again(tx).catch(() => undefined);
      tx.propose(COUNT);
    },
  );
  expect(ruling.ruling).toBe('committed');
  expect(tries).toBeLessThan(1_000);
  expect(await stands()).toEqual(['1']);
});
