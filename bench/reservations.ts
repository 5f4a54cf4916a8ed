/**
 * From an intent to the append of its entry while other proposals wait for an approval, under
 * `freeze: 'reserve'`. The baseline is the same proposal while none waits.
 */

import { MemoryStore } from '@assize/testing/memory';
import { z } from 'zod';
import { generateKeys } from '#canon';
import { defineDomain, escalate, pass, reject } from '#kernel';
import { Assize } from '#runtime';
import { type BenchResult, formatTable, percentile } from './measure.ts';
import { benchWrit } from './shop.ts';

const PROPOSALS = 5_000;
const WARM_UP = 1_000;
const ASK = 1_000;

const claims = defineDomain({
  name: 'bench-claims',
  version: '1',
  state: z.object({ budget: z.int(), claims: z.record(z.string(), z.object({ cents: z.int() })) }),
  initial: { budget: 1_000_000_000, claims: {} },
  processes: { claim: { reads: ['/budget'], writes: ['/claims/*'] } },
  roles: { clerk: { processes: ['claim'] } },
  counselors: { manager: () => true },
  actions: {
    claim: {
      process: 'claim',
      args: z.strictObject({ id: z.string(), cents: z.int() }),
      apply: (state, { id, cents }) => {
        state.claims[id] = { cents };
      },
    },
  },
  invariants: ({ each, sum }) => [
    sum(
      'BUDGET',
      '/claims/*',
      { of: ({ cents }) => cents, reads: ['/budget'], with: () => ({ budget: '/budget' }) },
      (total, { budget }) => (total <= (budget as number) ? pass : reject(`${total} of ${budget}`)),
    ),
    each('MANAGER', '/claims/*', {}, ({ cents }) =>
      cents <= ASK ? pass : escalate(`${cents} cents`),
    ),
  ],
});

/** Notes when a batch arrives. */
class NotingStore extends MemoryStore {
  appendedAt = 0;

  override commit(...batch: Parameters<MemoryStore['commit']>): ReturnType<MemoryStore['commit']> {
    if (this.appendedAt === 0) this.appendedAt = performance.now();
    return super.commit(...batch);
  }
}

async function measured(waiting: number): Promise<number> {
  const [store, keys] = [new NotingStore(), generateKeys()];
  const assize = new Assize({ store, domains: [claims], anchors: [keys.publicKey] });
  const writ = benchWrit(keys, 't', ['**'], ['**']);
  const trajectory = await assize.create(claims, { trajectoryId: 't', writs: [writ] });
  const claim = (id: string, cents: number) =>
    trajectory.propose({ action: 'claim', role: 'clerk', args: { id, cents }, writ });
  for (let i = 0; i < waiting; i++) {
    const { ruling } = await claim(`waiting ${i}`, ASK + 1);
    if (ruling !== 'escalated') throw new Error(`unexpected: ${ruling}`);
  }
  const micros: number[] = [];
  for (let i = 0; i < WARM_UP + PROPOSALS; i++) {
    store.appendedAt = 0;
    const start = performance.now();
    const { ruling } = await claim(`claim ${i % 100}`, 1);
    if (ruling !== 'committed') throw new Error(`unexpected: ${ruling}`);
    if (i >= WARM_UP) micros.push((store.appendedAt - start) * 1_000);
  }
  return percentile(micros, 50);
}

export async function reservationsBench(): Promise<BenchResult[]> {
  const baseline = { name: 'the same while none waits', value: await measured(0) };
  const results: BenchResult[] = [];
  for (const waiting of [1, 10]) {
    const value = await measured(waiting);
    const name = `intent to append while ${waiting} ${waiting === 1 ? 'proposal waits' : 'proposals wait'}, p50`;
    results.push({ name, value, unit: 'µs', baseline, ratio: value / baseline.value });
  }
  return results;
}

if (import.meta.main) console.log(formatTable(await reservationsBench()));
