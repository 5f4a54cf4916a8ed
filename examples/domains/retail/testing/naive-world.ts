import {
  type Judgement,
  NaiveDomain,
  type Outcome as OutcomeOf,
} from '../../../../tests/support/models/naive-domain.ts';
import { policy } from '../policy.ts';
import type { RetailState } from '../schema.ts';
import { actions } from '../tools.ts';
import { carelessActions } from './careless.ts';

export type Outcome = OutcomeOf<RetailState>;

const careful = new NaiveDomain<RetailState>({ actions, policy, copyOf });
const careless = new NaiveDomain<RetailState>({ actions: carelessActions, policy, copyOf });

/**
 * Runs a tool on a copy, as an agent of the user, and returns the verdict of the whole policy on
 * the resulting state.
 */
export function attempt(state: RetailState, name: string, args: unknown, user = 'ann'): Outcome {
  return careful.attempt(state, name, args, { user });
}

/** The same with the tools' own checks gone: every refusal comes from the policy. */
export function attemptCarelessly(
  state: RetailState,
  name: string,
  args: unknown,
  user = 'ann',
): Outcome {
  return careless.attempt(state, name, args, { user });
}

/** Runs a tool in place. */
export function perform(state: RetailState, name: string, args: unknown, user = 'ann'): void {
  careful.perform(state, name, args, { user });
}

/** The first invariant that does not pass, or a pass. */
export function judge(state: RetailState): Judgement {
  return careful.judge(state);
}

/** Every rule that a state breaks, in order. */
export function failing(state: RetailState): string[] {
  return careful.failing(state);
}

/** The state after a call, regardless of the policy. */
export function after(outcome: Outcome): RetailState {
  if (outcome.outcome === 'tool_error') throw new Error(outcome.detail);
  return outcome.state;
}

/** Products are written by no tool. */
export function copyOf({ products, ...rest }: RetailState): RetailState {
  return { ...structuredClone(rest), products };
}
