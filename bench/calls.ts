/**
 * From an intent to the append of its entry, for an action that declares one keyed call. The
 * baseline is the same action without a call. One proposal follows the other.
 */

import { MemoryStore } from '@assize/testing/memory';
import { z } from 'zod';
import { generateKeys } from '#canon';
import { declareTool } from '#effects';
import { call, defineDomain, pass } from '#kernel';
import { Assize } from '#runtime';
import { type BenchResult, formatTable, percentile } from './measure.ts';
import { benchWrit } from './shop.ts';

const PROPOSALS = 20_000;
const WARM_UP = 2_000;

const pay = declareTool({
  name: 'bank.pay',
  input: z.strictObject({ to: z.string(), cents: z.int() }),
  class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
  writes: ['bank:{to}'],
  execute: () => null,
  compensate: () => ({ undone: 'all' }),
});

const args = z.strictObject({ to: z.string(), cents: z.int() });
const apply = (
  state: { spent: Record<string, number> },
  { to, cents }: z.infer<typeof args>,
): void => {
  state.spent[to] = (state.spent[to] ?? 0) + cents;
};

const payments = defineDomain({
  name: 'bench-payments',
  version: '1',
  state: z.object({ spent: z.record(z.string(), z.int()) }),
  initial: { spent: {} },
  processes: { pay: { writes: ['/spent/*'] } },
  roles: { clerk: { processes: ['pay'] } },
  actions: {
    note: { process: 'pay', args, apply },
    pay: {
      process: 'pay',
      args,
      apply,
      calls: (_state, { to, cents }) => [call(pay, { to, cents })],
    },
  },
  invariants: ({ eachCall }) => [eachCall('KNOWN', pay, {}, () => pass)],
});

/** Notes when a batch with an entry arrives. */
class NotingStore extends MemoryStore {
  appendedAt = 0;

  override commit(...batch: Parameters<MemoryStore['commit']>): ReturnType<MemoryStore['commit']> {
    if (this.appendedAt === 0 && batch[0].entries.length > 0) this.appendedAt = performance.now();
    return super.commit(...batch);
  }
}

async function measured(action: 'note' | 'pay'): Promise<number[]> {
  const [store, keys] = [new NotingStore(), generateKeys()];
  const assize = new Assize({
    store,
    domains: [payments],
    anchors: [keys.publicKey],
    tools: [pay],
  });
  const writ = benchWrit(keys, 't', ['**'], ['**']);
  const trajectory = await assize.create(payments, { trajectoryId: 't', writs: [writ] });
  const micros: number[] = [];
  for (let i = 0; i < WARM_UP + PROPOSALS; i++) {
    store.appendedAt = 0;
    const start = performance.now();
    const { ruling } = await trajectory.propose({
      action,
      role: 'clerk',
      args: { to: `p${i % 100}`, cents: 1 },
      writ,
    });
    if (ruling !== 'committed') throw new Error(`unexpected: ${ruling}`);
    if (i >= WARM_UP) micros.push((store.appendedAt - start) * 1_000);
  }
  await assize.close();
  return micros;
}

export async function callsBench(): Promise<BenchResult[]> {
  const without = percentile(await measured('note'), 50);
  const withCall = percentile(await measured('pay'), 50);
  const baseline = { name: 'the same action without a call', value: without };
  const name = 'intent to append with one keyed call planned, p50';
  return [
    { name, value: withCall, unit: 'µs', baseline, ratio: withCall / without, goal: { max: 25 } },
  ];
}

if (import.meta.main) console.log(formatTable(await callsBench()));
