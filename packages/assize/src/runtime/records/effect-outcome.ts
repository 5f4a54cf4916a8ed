import type { Json } from '#base';
import type { EffectPhase } from '#effects';
import type { Hash } from '#ledger';

/** The outcome of an effect that a commit names. */
export interface EffectOutcome {
  /** The effect's id in the commit. */
  readonly id: Hash;
  readonly tool: string;
  /**
   * `applied`, `undone` and `accepted` are final. `in_doubt` and `unresolved` need a human
   * decision.
   */
  readonly phase: EffectPhase;
  /**
   * The tool's answer, or `{"$erased": hash}` if the answer was erased. Undefined if the tool gave
   * no answer, or if only an operator stated that the effect was applied.
   */
  readonly answer?: Json;
  /** Set if the answer was too long to store. */
  readonly isTooLong?: true;
  /** Set if the tool was executed and its answer is not JSON. */
  readonly isUnreadable?: true;
}

/**
 * The state of all effects of a commit. `settled`: all effects are done, or compensated without a
 * commit, and their outcomes are durable. `failed`: an effect failed permanently after the commit,
 * and all effects are compensated. `needs_human`: an effect needs a human decision (`effects
 * list`). `waiting`: the effects wait for another decision or for a process with their tools, are
 * in progress, or have outcomes that could not be written yet.
 */
export type EffectsStatus = 'settled' | 'failed' | 'needs_human' | 'waiting';
