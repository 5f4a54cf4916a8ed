/** Tools of each class. Every callback goes through the hands of a caller. */
import { z } from 'zod';
import type { ToolSpec } from '../../../packages/assize/src/public/effects.ts';
import * as effects from '../../../packages/assize/src/public/effects.ts';
import type { Hands } from './hands.ts';

type AtomicBatch = NonNullable<ToolSpec['batch']>;
export type ShopTools = ReturnType<typeof shopTools>;

const input = z.strictObject({ to: z.string(), cents: z.int(), tags: z.array(z.string()) });
type Input = z.infer<typeof input>;

/** A payment of 13 cents fails, and a hold of 13 cents loses its answer. */
export function shopTools(hands: Hands) {
  const on = hands.callback.bind(hands);
  const { declareTool, DidNothing } = hands.module(effects);
  const made = new Set<string>();
  const answer = ({
    cents,
    tags,
  }: Input): { readonly cents: number; readonly tags: readonly string[] } => ({
    cents,
    tags: [...tags, 'done'],
  });
  const common = {
    input,
    writes: on('ToolSpec.writes', ({ to }: Input) => [`account:${to}`]),
    cost: on('ToolSpec.cost', () => ({ cents: 1 })),
    conflictWith: on('ToolSpec.conflictWith', () => undefined),
  };
  const batch: AtomicBatch = {
    at: Object.freeze({}),
    part: 'rows',
    execute: on('AtomicBatch.execute', async (calls) => calls.map((each) => answer(each.input))),
    compensate: on('AtomicBatch.compensate', async (calls) =>
      calls.map(() => ({ undone: 'all' as const })),
    ),
  };
  const staged: AtomicBatch = {
    at: Object.freeze({}),
    part: 'staged',
    execute: on('AtomicBatch.execute', async (calls) => calls.map((each) => answer(each.input))),
    stage: on('AtomicBatch.stage', () => ({
      execute: on('StagedTransaction.execute', async (_before, each) => answer(each.input)),
      read: on('StagedTransaction.read', async (before) => ({
        rows: before.map(({ key }) => key),
      })),
      commit: on('StagedTransaction.commit', async (calls) =>
        calls.map((each) => answer(each.input)),
      ),
      rollbackTo: on('StagedTransaction.rollbackTo', async () => undefined),
      replay: on('StagedTransaction.replay', async () => undefined),
      rollback: on('StagedTransaction.rollback', async () => undefined),
    })),
  };
  const irreversible = {
    reversibility: 'irreversible',
    delivery: 'buffered',
    sink: 'keyed',
  } as const;
  return {
    look: declareTool({
      name: 'shop.look',
      input,
      class: 'read',
      reads: on('ToolSpec.reads', ({ to }: Input) => [`account:${to}`]),
      cost: on('ToolSpec.cost', () => ({ cents: 1 })),
      execute: on('ToolSpec.execute', (given: Input, _call, planned) => ({
        ...answer(given),
        planned: planned.length,
      })),
    }),
    pay: declareTool({
      ...common,
      name: 'shop.pay',
      class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
      plan: on('ToolSpec.plan', (given: Input, planned) => ({
        ...answer(given),
        planned: planned.length,
      })),
      execute: on('ToolSpec.execute', (given: Input) => {
        if (given.cents === 13) throw new DidNothing('the bank is closed', { final: true });
        return answer(given);
      }),
      compensate: on('ToolSpec.compensate', () => ({ undone: 'all' as const })),
    }),
    hold: declareTool({
      ...common,
      name: 'shop.hold',
      class: { reversibility: 'with_cost', delivery: 'externalised', sink: 'queryable' },
      undoCost: on('ToolSpec.undoCost', () => ({ cents: 2 })),
      execute: on('ToolSpec.execute', (given: Input, { key }) => {
        made.add(key);
        if (given.cents === 13) throw new Error('the answer is lost');
        return answer(given);
      }),
      compensate: on('ToolSpec.compensate', (_given: Input, _result, { key }) => {
        made.delete(key);
        return { undone: 'partly' as const, residue: { mails: ['sent'] } };
      }),
      mitigate: on('ToolSpec.mitigate', () => ({ mailed: ['sorry'] })),
      reconcile: on('ToolSpec.reconcile', (given: Input, { key }) =>
        made.has(key)
          ? { happened: true as const, result: answer(given) as never }
          : { happened: false as const },
      ),
    }),
    ship: declareTool({
      ...common,
      name: 'shop.ship',
      class: { ...irreversible, sink: 'blind' },
      execute: on('ToolSpec.execute', () => {
        throw new Error('the answer is lost');
      }),
    }),
    row: declareTool({
      ...common,
      name: 'shop.row',
      class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
      execute: on('ToolSpec.execute', answer),
      compensate: on('ToolSpec.compensate', () => ({ undone: 'all' as const })),
      batch,
    }),
    stage: declareTool({
      ...common,
      name: 'shop.stage',
      class: irreversible,
      execute: on('ToolSpec.execute', answer),
      batch: staged,
    }),
    read: declareTool({
      name: 'shop.read',
      input,
      class: 'read',
      reads: ['account:{to}'],
      execute: on('ToolSpec.execute', answer),
      readsStaged: { at: staged.at, part: staged.part },
    }),
  };
}
