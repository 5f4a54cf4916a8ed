import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type CallContext, type Delivery, declareTool, type Sink, type Tool } from '#effects';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import {
  OutsideSink,
  Steps,
  storeOf,
  tally,
} from '../../../../../tests/support/tools/effect-sink.ts';

/** A tool of that class, at a sink that executes every request, each time. */
function toolOf(outside: OutsideSink, steps: Steps, sink: Sink, delivery: Delivery): Tool {
  const told = async (tell: () => void): Promise<void> => {
    await steps.step();
    tell();
    await steps.step();
  };
  return declareTool({
    name: 'bell.ring',
    input: z.strictObject({ what: z.string() }),
    class: { reversibility: 'reversible', delivery, sink },
    writes: ['test:bell'],
    execute: ({ what }, { key }) => told(() => outside.do(key, what)),
    compensate: async ({ what }, _result, { key }) => {
      await told(() => outside.undo(key, what));
      return { undone: 'all' };
    },
    ...(sink === 'queryable' && {
      reconcile: (_: unknown, { key }: CallContext) =>
        outside.has(key)
          ? ({ happened: true, result: null } as const)
          : ({ happened: false } as const),
    }),
  });
}

/**
 * A transaction that crashed with a keyed sink is resumed, at each step, with a tool for another
 * kind of sink.
 */
test.each<[Sink, Delivery, isDone: boolean]>([
  ['blind', 'buffered', true],
  ['blind', 'externalised', true],
  ['blind', 'externalised', false],
  ['queryable', 'buffered', true],
  ['queryable', 'externalised', true],
  ['queryable', 'externalised', false],
])(
  'a call lost at a keyed sink, now %s, %s, is not executed twice (%s)',
  async (now, delivery, isDone) => {
    const phases = new Set<string>();
    for (let endAt = 1; ; endAt++) {
      const outside = new OutsideSink('blind');
      const store = new MemoryStore();
      await runtimeOver(store, [tally]).create(tally, { trajectoryId: 't' });
      const steps = new Steps(endAt);
      const first = runtimeOver(storeOf(store, steps), [tally], {
        tools: [toolOf(outside, steps, 'keyed', delivery)],
      });
      const trajectory = await first.open('t');
      const body = async (tx: any) => {
        await tx.call('bell.ring', { what: 'a' });
        if (!isDone) throw new Error('no');
        tx.propose({ action: 'count', role: 'counter', args: 'order' });
      };
      const made = trajectory.transaction(
        { writ: writFor('alice'), writes: ['test:**'], retries: 0 },
        body,
      );
      await Promise.race([made.catch(() => undefined), steps.ended]);
      await Promise.race([first.close(), steps.ended]);
      const next = runtimeOver(store, [tally], {
        tools: [toolOf(outside, new Steps(), now, delivery)],
      });
      const left = await next.recoverEffects();
      await next.close();
      for (const { phase, why } of left) phases.add(`${phase} ${why}`);
      expect([endAt, outside.times('do', 'a') <= 1, outside.times('undo', 'a') <= 1]).toEqual([
        endAt,
        true,
        true,
      ]);
      const isCommitted = (await store.entries('t')).some(({ kind }) => kind === 'commit');
      if (left.length === 0)
        expect([endAt, outside.standing('a')]).toEqual([endAt, isCommitted ? 1 : 0]);
      if (!steps.isDead) break;
    }
    expect([...phases]).toEqual(now === 'blind' ? ['in_doubt answer_lost'] : []);
  },
);
