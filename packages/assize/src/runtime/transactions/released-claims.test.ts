import { setImmediate as nextTurn } from 'node:timers/promises';
import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { declareTool, type Sink } from '#effects';
import type { Transaction } from '#runtime';
import { operatorWrit, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { expectEffectLogMatches } from '../../../../../tests/support/tools/check-effect-log.ts';
import {
  type Fault,
  OutsideSink,
  Steps,
  tally,
  toolFor,
} from '../../../../../tests/support/tools/effect-sink.ts';

// Branches that continue after the transaction stopped waiting for them: their effects are
// compensated once.

const SINKS: readonly Sink[] = ['keyed', 'queryable', 'blind'];

/** A tool with calls and compensations that wait until they are released. */
async function stage(sort: Sink) {
  const sink = new OutsideSink(sort);
  const gates: (() => void)[] = [];
  let begun = 0;
  const gate = (): Promise<void> => {
    begun++;
    return new Promise((resolve) => gates.push(resolve));
  };
  const put = declareTool({
    name: 'put',
    input: z.strictObject({ what: z.string() }),
    class: { reversibility: 'reversible', delivery: 'externalised', sink: sort },
    writes: ['test:{what}'],
    execute: async ({ what }, { key }) => {
      await gate();
      sink.do(key, what);
    },
    compensate: async ({ what }, _, { key }) => {
      await gate();
      sink.undo(key, what);
      return { undone: 'all' };
    },
    ...(sort === 'queryable'
      ? {
          reconcile: async (_: unknown, { key }: { readonly key: string }) =>
            sink.has(key)
              ? { happened: true as const, result: null }
              : { happened: false as const },
        }
      : {}),
  });
  const store = new MemoryStore();
  const assize = runtimeOver(store, [tally], { tools: [put] });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  /** Resolves when `n` tools are executing. */
  const atWork = async (n: number): Promise<void> => {
    while (begun < n) await nextTurn();
  };
  const goOn = async (made: Promise<unknown>): Promise<void> => {
    let isOver = false;
    const over = (): void => {
      isOver = true;
    };
    made.then(over, over);
    while (!isOver) {
      for (const open of gates.splice(0)) open();
      await nextTurn();
    }
  };
  const check = async (): Promise<void> => {
    // Lets pending steps finish.
    for (let turns = 0; turns < 20; turns++) {
      for (const open of gates.splice(0)) open();
      await nextTurn();
    }
    expect(await assize.recoverEffects()).toEqual([]);
    await assize.close();
    await expectEffectLogMatches(store, 't', []);
  };
  return { sink, trajectory, atWork, goOn, check };
}

const options = { writ: writFor('alice'), writes: ['test:**'], retries: 0 };
const COUNT = { action: 'count', role: 'counter', args: 'order' } as const;
/** The branch with the effect is not chosen; the choice may take `turns` turns. */
const branching = (tx: Transaction, turns: number): Promise<unknown> =>
  tx.speculate([(one) => one.call('put', { what: 'a' }), () => undefined], async () => {
    for (let turn = 0; turn < turns; turn++) await nextTurn();
    return 1;
  });
const CASES = SINKS.flatMap((sort) => [0, 1, 5, 15].map((turns) => [sort, turns] as const));

test.each(CASES)(
  'a transaction aborted while a branch acts compensates once (%s, %i)',
  async (sort, turns) => {
    const { sink, trajectory, atWork, goOn, check } = await stage(sort);
    const controller = new AbortController();
    const made = trajectory.transaction({ ...options, signal: controller.signal }, (tx) =>
      branching(tx, turns),
    );
    await atWork(1);
    controller.abort();
    await goOn(made);
    await expect(made).rejects.toMatchObject({ code: 'deadline' });
    await check();
    expect(sink.log.map(({ did }) => did)).toEqual(['do', 'undo']);
  },
);

test.each(CASES)(
  'a transaction with a body that leaves a branch compensates once (%s, %i)',
  async (sort, turns) => {
    const { sink, trajectory, atWork, goOn, check } = await stage(sort);
    const made = trajectory.transaction(options, async (tx) => {
      void branching(tx, turns).catch(() => undefined);
      await atWork(1);
      tx.propose(COUNT);
    });
    await atWork(1);
    await goOn(made);
    await expect(made).rejects.toMatchObject({ reason: 'not_awaited' });
    await check();
    expect(sink.log.map(({ did }) => did)).toEqual(['do', 'undo']);
  },
);

test.each(CASES)(
  'effects not awaited by a failed part are reverted before commit (%s, %i)',
  async (sort, turns) => {
    const { sink, trajectory, atWork, goOn, check } = await stage(sort);
    const made = trajectory.transaction(options, async (tx) => {
      const part = tx.nested(async (outer) => {
        void branching(outer, turns).catch(() => undefined);
        await atWork(1);
        throw new Error('it has seen enough');
      });
      await expect(part).rejects.toThrow('it has seen enough');
      tx.propose(COUNT);
    });
    await atWork(1);
    await goOn(made);
    expect((await made).ruling.ruling).toBe('committed');
    await check();
    expect(sink.log.map(({ did }) => did)).toEqual(['do', 'undo']);
  },
);

test('an effect in doubt in an aborted part is compensated once confirmed', async () => {
  const sink = new OutsideSink('blind');
  const fault = (of: string) => (of === 'do' ? 'lose' : 'none') as Fault;
  const tool = toolFor({ sink, steps: new Steps(), fault }, 'reversible', 'externalised');
  const store = new MemoryStore();
  const assize = runtimeOver(store, [tally], { tools: [tool] });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  const outcome = await trajectory.transaction(options, async (tx) => {
    const part = tx.nested((inner) =>
      inner.nested((inmost) => inmost.call(tool.name, { what: 'a' })),
    );
    await expect(part).rejects.toMatchObject({ code: 'outcome_unknown' });
    tx.propose(COUNT);
  });
  expect(outcome).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'needs_human' });
  const [left] = await assize.recoverEffects();
  expect(sink.standing('a')).toBe(1);
  const decision = {
    epoch: left!.epoch,
    n: left!.n,
    as: 'applied',
    by: 'somebody',
    writ: operatorWrit('somebody'),
    evidence: 'it is there',
  } as const;
  const resolved = await assize.resolveEffect(decision);
  expect(resolved).toMatchObject({ phase: 'undone', transaction: 'settled', unresolved: 0 });
  expect(sink.standing('a')).toBe(0);
  await assize.close();
  await expectEffectLogMatches(store, 't', []);
});
