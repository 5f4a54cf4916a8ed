import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { DidNothing, declareTool, effectKey } from '#effects';
import type { Transaction, TransactionOptions } from '#runtime';
import {
  HandClock,
  operatorWrit,
  runtimeOver,
  writFor,
} from '../../../../../tests/support/ledger/runtime.ts';
import {
  OutsideSink,
  Steps,
  tally,
  toolFor,
} from '../../../../../tests/support/tools/effect-sink.ts';

// Keys of calls in a transaction with a part that restarts. By its name, the transaction is
// repeated and makes the same calls.

const COUNT = { action: 'count', role: 'counter', args: 'order' } as const;
const OPTIONS: TransactionOptions = {
  writ: writFor('alice'),
  writes: ['test:**'],
  retries: 0,
  name: 'order 1',
};
const { name: _, ...NAMELESS } = OPTIONS;
const RETRIES = 3;
const CALL = 'reversible.externalised';
const HELD = 'reversible.buffered';

type Where = 'in the part' | 'after the part';

/**
 * A world with a part that fails `n` times before it succeeds, and loses the answers of payments on
 * request.
 */
async function world() {
  const sink = new OutsideSink('blind');
  const faults = { shaky: 0, isLost: false };
  const outside = {
    sink,
    steps: new Steps(),
    fault: (of: 'do' | 'undo' | 'ask', what: string) => {
      if (of === 'do' && what === 'shaky' && faults.shaky-- > 0) return 'fail';
      return of === 'do' && what === 'paid' && faults.isLost ? 'lose' : 'none';
    },
  };
  const tools = [
    toolFor(outside, 'reversible', 'externalised'),
    toolFor(outside, 'reversible', 'buffered'),
  ];
  const assize = runtimeOver(new MemoryStore(), [tally], { tools });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  const run = (where: Where, shaky: number, isLost = false) => {
    Object.assign(faults, { shaky, isLost });
    return trajectory.transaction(OPTIONS, async (tx) => {
      await tx.nested(
        async (part) => {
          await part.call(CALL, { what: 'shaky', at: 'shaky' });
          if (where === 'in the part') await part.call(CALL, { what: 'paid', at: 'paid' });
        },
        { retries: RETRIES },
      );
      if (where === 'after the part') await tx.call(CALL, { what: 'paid', at: 'paid' });
      await tx.call(HELD, { what: 'held', at: 'held' });
      tx.propose(COUNT);
    });
  };
  return { sink, faults, assize, trajectory, run };
}

const ROUNDS = [0, 1, RETRIES].flatMap((first) =>
  [0, 1, RETRIES].map((second) => [first, second] as const),
);

test.each<Where>(['in the part', 'after the part'])(
  'an effect of unknown outcome is not called again, %s',
  async (where) => {
    for (const [first, second] of ROUNDS) {
      const { sink, assize, run } = await world();
      await expect(run(where, first, true)).rejects.toMatchObject({ code: 'outcome_unknown' });
      const [left] = await assize.recoverEffects();
      await assize.resolveEffect({
        epoch: left!.epoch,
        n: left!.n,
        as: 'residue',
        by: 'ops',
        writ: operatorWrit(),
        evidence: 'it stays',
      });
      await expect(run(where, second)).rejects.toMatchObject({ code: 'key_collision' });
      expect([first, second, sink.times('do', 'paid')]).toEqual([first, second, 1]);
      await assize.close();
    }
  },
);

test('a call has its key however often the part before it did nothing', async () => {
  const keysOf = async (where: Where, shaky: number): Promise<unknown> => {
    const { sink, assize, run } = await world();
    await run(where, shaky);
    await assize.close();
    return ['paid', 'held'].map((what) =>
      sink.log.filter((each) => each.what === what).map(({ key }) => key),
    );
  };
  for (const where of ['in the part', 'after the part'] as const) {
    const [once, ...others] = await Promise.all(
      [0, 1, RETRIES].map((shaky) => keysOf(where, shaky)),
    );
    for (const other of others) expect(other).toEqual(once);
  }
});

test('a part repeats compensated effects under new keys, even without a name', async () => {
  for (const options of [OPTIONS, NAMELESS]) {
    const { sink, assize, trajectory, faults } = await world();
    faults.shaky = RETRIES;
    await trajectory.transaction(options, async (tx) => {
      const body = async (part: Transaction): Promise<void> => {
        await part.call(CALL, { what: 'paid', at: 'paid' });
        await part.call(CALL, { what: 'shaky', at: 'shaky' });
      };
      await tx.nested(body, { retries: RETRIES });
      tx.propose(COUNT);
    });
    const keys = sink.log
      .filter(({ did, what }) => did === 'do' && what === 'paid')
      .map(({ key }) => key);
    expect([keys.length, new Set(keys).size]).toEqual([RETRIES + 1, RETRIES + 1]);
    expect([sink.standing('paid'), sink.standing('shaky')]).toEqual([1, 1]);
    await assize.close();
  }
});

test('a buffered effect in a restarted part does not reuse an executed key', async () => {
  const { sink, assize, trajectory, faults } = await world();
  faults.shaky = 1;
  // With a name, the store would refuse that key, and the whole transaction would restart.
  await trajectory.transaction(NAMELESS, async (tx) => {
    let tries = 0;
    const body = async (part: Transaction): Promise<void> => {
      // The first call of the part executes immediately; in the next attempt it is buffered.
      await part.call(tries++ === 0 ? CALL : HELD, { what: 'paid', at: 'paid' });
      await part.call(CALL, { what: 'shaky', at: 'shaky' });
    };
    await tx.nested(body, { retries: RETRIES });
    tx.propose(COUNT);
  });
  const keys = sink.log
    .filter(({ did, what }) => did === 'do' && what === 'paid')
    .map(({ key }) => key);
  expect([keys.length, new Set(keys).size, sink.standing('paid')]).toEqual([2, 2, 1]);
  await assize.close();
});

test('a call that did nothing gets a new key when its transaction is repeated', async () => {
  const answers = new Map<string, boolean>();
  let isDown = true;
  const pay = declareTool({
    name: 'pay',
    input: z.strictObject({ what: z.string() }),
    class: { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' },
    writes: ['test:r'],
    execute: (_, { key }) => {
      // Like services that store their answers under a key.
      if (!answers.has(key)) answers.set(key, !isDown);
      if (answers.get(key) === false) throw new DidNothing('it is down');
    },
    compensate: () => ({ undone: 'all' as const }),
  });
  const store = new MemoryStore();
  const assize = runtimeOver(store, [tally], { tools: [pay] });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  const run = () =>
    trajectory.transaction(OPTIONS, async (tx) => {
      await tx.call('pay', { what: 'it' });
      tx.propose(COUNT);
    });
  await expect(run()).rejects.toMatchObject({ code: 'tool_failed' });
  isDown = false;
  expect(await run()).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'settled' });
  expect(await run()).toMatchObject({ ruling: { ruling: 'committed' } });
  const root = (await store.entries('t'))[0]!.id;
  const keys = [0, 1].map((generation) =>
    effectKey({ root, transaction: 'order 1', call: 0, generation }),
  );
  expect([...answers]).toEqual([
    [keys[0], false],
    [keys[1], true],
  ]);
  await assize.close();
});

test('the same call and name in another store is a different call to a sink', async () => {
  const outside = { sink: new OutsideSink('keyed'), steps: new Steps() };
  const clock = new HandClock();
  for (const what of ['in the first store', 'in the second store']) {
    const tools = [toolFor(outside, 'reversible', 'externalised')];
    const assize = runtimeOver(new MemoryStore(), [tally], { tools, ports: { clock } });
    const trajectory = await assize.create(tally, { trajectoryId: 't' });
    const run = () =>
      trajectory.transaction(OPTIONS, async (tx) => {
        await tx.call(CALL, { what });
        tx.propose(COUNT);
      });
    for (let times = 0; times < 2; times++)
      expect(await run()).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'settled' });
    await assize.close();
    clock.forward(1);
  }
  expect(outside.sink.log.map(({ did, what }) => [did, what])).toEqual([
    ['do', 'in the first store'],
    ['do', 'in the second store'],
  ]);
});
