import { isUnresolved, type TransactionState } from '#effects';
import type { EffectOutcome, EffectsStatus, Ruling } from '../../records/ruling.ts';
import type { AdvanceResult, TransactionRun } from '../log/advance.ts';
import type { CallRecord } from '../log/call-record.ts';

/** The outcome of a transaction. */
export interface TransactionOutcome<T> {
  readonly ruling: Ruling;
  /** The return value of the body. Undefined if the transaction already had a ruling. */
  readonly value: T | undefined;
  readonly epoch: number | undefined;
  readonly effects: EffectsStatus;
  /**
   * Each changing call with its outcome, executed calls first. Undefined if the transaction did not
   * commit in this call.
   */
  readonly calls?: readonly EffectOutcome[];
  /** The ruling on the `onFailure` action, if an effect failed permanently after the commit. */
  readonly failure?: Ruling;
}

/** The outcome of the effects of a commit. */
export function committedEffects({ state }: TransactionRun, end: AdvanceResult): EffectsStatus {
  return end === 'ended' && state.failing !== undefined ? 'failed' : abortedEffects(end);
}

/** The outcome of the effects of an aborted transaction. */
export function abortedEffects(end: AdvanceResult): 'settled' | 'needs_human' | 'waiting' {
  if (end === 'ended') return 'settled';
  return end === 'needs_human' ? 'needs_human' : 'waiting';
}

/** The outcome of the effects of an earlier ruling without unresolved effects. */
export function previousEffects(
  ruling: Ruling,
  state: TransactionState | undefined,
): EffectsStatus {
  if (ruling.ruling === 'escalated') return 'waiting';
  if (state === undefined) return 'settled';
  if (state.phase === 'settled') return state.failing === undefined ? 'settled' : 'failed';
  return unfinishedEffects(state);
}

/**
 * An unfinished transaction is `needs_human` if one of its effects needs a human decision, and
 * otherwise `waiting`.
 */
export function unfinishedEffects(state: TransactionState | undefined): 'needs_human' | 'waiting' {
  return state?.effects.some(({ phase }) => isUnresolved(phase)) === true
    ? 'needs_human'
    : 'waiting';
}

/** The outcome of each effect, if this process knows it. */
export function outcomesOf({ effects, state }: TransactionRun): EffectOutcome[] {
  return (effects as readonly CallRecord[]).map(
    ({ key: id, tool, answer, isTooLong, isUnreadable }, n) => ({
      id,
      tool,
      phase: state.effects[n]!.phase,
      ...(answer === undefined || answer === null || isTooLong === true ? {} : { answer }),
      ...(isTooLong === true && { isTooLong }),
      ...(isUnreadable === true && { isUnreadable }),
    }),
  );
}
