import type { Json } from 'assize/internal/base';
import type { Amounts, Hash, Patch } from 'assize/internal/ledger';
import type { AskedQuestions } from './branch-oracle.ts';
import type { SimulatedCall } from './simulators.ts';
import type { Parting, Step } from './steps.ts';

/**
 * `done`: all agents are done. `waits`: a pending proposal stops the agents. `stuck`: the agents
 * wait for a change that no agent makes. `limit`: a limit of the simulation was reached.
 * `no_answer`: a call has no answer. `failed`: an agent, a model or a simulator threw.
 */
export type SampleOutcome = 'done' | 'waits' | 'stuck' | 'limit' | 'no_answer' | 'failed';

export interface SampleResult {
  readonly variant: string;
  /** From 0. */
  readonly sample: number;
  readonly outcome: SampleOutcome;
  /** The reason of `no_answer` and `failed`. */
  readonly fault?: SampleFault;
  /** The last entry of the branch. If the record has the same one, all entries are equal. */
  readonly head: Hash;
  /** Turns after the shared entry. */
  readonly turns: number;
  /** The rulings after the shared entry, in order. */
  readonly steps: readonly Step[];
  /** The operations from the last state of the record to that of the sample. */
  readonly difference: readonly Patch[];
  /** Calls of tools after the shared entry, in order. */
  readonly calls: readonly SimulatedCall[];
  /** The amounts that commits after the shared entry spent, by unit. */
  readonly spent: Amounts;
  readonly asked: Readonly<AskedQuestions>;
  /** The first ruling that the record does not have. Undefined: all rulings are equal. */
  readonly parts?: Parting;
}

export interface SampleFault {
  readonly code: string;
  readonly detail: string;
  /** For `no_answer`, and for a simulator that failed. */
  readonly tool?: string;
  readonly input?: Json;
}

/** The amounts of all commits, by unit. */
export function spentBy(steps: readonly Step[]): Amounts {
  const spent: Record<string, number> = {};
  for (const step of steps)
    for (const [unit, amount] of Object.entries(step.spent ?? {}))
      spent[unit] = (spent[unit] ?? 0) + amount;
  return spent;
}
