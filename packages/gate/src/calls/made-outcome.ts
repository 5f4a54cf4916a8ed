import { type EffectState, isUnresolved, type TransactionState } from 'assize/internal/effects';

/**
 * The outcome of calls that Assize made in one transaction. `failed`: one of them did nothing, or
 * was undone. `unknown`: a person must find out. Undefined while the transaction goes on.
 */
export function madeOutcome({
  effects,
}: Pick<TransactionState, 'effects'>): 'done' | 'failed' | 'unknown' | undefined {
  if (effects.length === 0) return undefined;
  if (effects.some(hasFailed)) return 'failed';
  if (effects.some(({ phase }) => isUnresolved(phase))) return 'unknown';
  return effects.every(({ phase }) => phase === 'applied') ? 'done' : undefined;
}

/** Phases of an effect that has ended without staying. */
const FAILED: ReadonlySet<EffectState['phase']> = new Set(['dropped', 'undone', 'accepted']);

/** A call that its sink refused permanently did nothing, also while a person must decide on it. */
function hasFailed({ phase, isFinal }: EffectState): boolean {
  return FAILED.has(phase) || (phase === 'unresolved' && isFinal === true);
}
