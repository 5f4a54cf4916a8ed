import { EffectError } from '#effects';
import type { EffectStore } from '#ledger';
import { leaseLost } from './lease-lost.ts';

/** The error for a store that wrote nothing. */
export function storeRefusal(
  result: Exclude<Awaited<ReturnType<EffectStore['logEffects']>>, { status: 'written' }>,
): EffectError {
  if (result.status === 'fenced')
    return leaseLost(
      new Error('the store refused a write of this process, since it has given its work to another one'),
    );
  const { key, epoch, n } = result;
  return new EffectError('key_collision', `The key ${key} stands for call ${n} of the transaction ${epoch} already.`, {
    evidence: { key, epoch, n },
  });
}
