import { MemoryStore } from '@assize/testing/memory';
import { defineDomain, escalate, pass } from '#kernel';
import type { LedgerStore } from '#ledger';
import { runtimeOver, writFor } from '../ledger/runtime.ts';
import { OutsideSink, Steps, tally, toolFor } from './effect-sink.ts';

/** A tally with a doctor that approves the submitted proposals. */
export const attended = defineDomain<any, any>({
  ...(tally.declared as any),
  name: 'attended',
  counselors: { doctor: (principal: string) => principal === 'doc' },
  freeze: 'footprint',
});

/** One that asks the doctor about some. */
export const asking = defineDomain<any, any>({
  ...(attended.declared as any),
  name: 'asking',
  invariants: ({ each }: any) => [
    each('ASK', '/done/*', {}, (n: number, _: unknown, [name]: string[]) =>
      name === 'asked' && n > 0 ? escalate('shall it be?') : pass,
    ),
  ],
});

/**
 * A trajectory with effects in commits, in pending proposals, and in approved and rejected ones.
 * One effect has a cost.
 */
export async function ledgerWithEffects<S extends LedgerStore = MemoryStore>(
  store: S = new MemoryStore() as LedgerStore as S,
  sink: OutsideSink = new OutsideSink('keyed'),
): Promise<{ store: S; sink: OutsideSink }> {
  const tools = [toolFor({ sink, steps: new Steps() }, 'irreversible', 'buffered')];
  const assize = runtimeOver(store, [asking], { tools });
  const trajectory = await assize.create(asking, { trajectoryId: 't' });
  const writ = writFor('alice');
  const ask = (args: string) =>
    trajectory.transaction({ writ, writes: ['test:**'] }, async (tx) => {
      await tx.call('irreversible.buffered', { what: args });
      tx.propose({ action: 'count', role: 'counter', args });
    });
  await ask('plain');
  const doctor = { principal: 'doc', method: 'test' };
  for (const end of ['approve', 'reject', 'wait'] as const) {
    const { ruling } = await ask('asked');
    if (ruling.ruling !== 'escalated') throw new Error(`it was ${ruling.ruling}`);
    if (end === 'approve')
      await trajectory.approvals.approve(ruling.pending, { ...doctor, override: true });
    if (end === 'reject')
      await trajectory.approvals.reject(ruling.pending, { ...doctor, reason: 'no' });
  }
  await assize.close();
  return { store, sink };
}
