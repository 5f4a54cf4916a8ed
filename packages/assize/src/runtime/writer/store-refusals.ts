import { EffectError } from '#effects';
import type { EffectStore } from '#ledger';
import { leaseLost } from './lease-lost.ts';

/** The error for a store that wrote nothing. */
export function storeRefusal(
  result: Exclude<Awaited<ReturnType<EffectStore['logEffects']>>, { status: 'written' }>,
): EffectError {
  if (result.status === 'fenced')
    return leaseLost(
      new Error('the store refused a write of this process, because another process has adopted its work'),
    );
  const { key, epoch, n } = result;
  return new EffectError(
    'key_collision',
    `The key ${key} already belongs to call ${n} of transaction ${epoch}. Use a new transaction name.`,
    {
      evidence: { key, epoch, n },
    },
  );
}
