import {
  type Judgement,
  NaiveDomain,
  type Outcome as OutcomeOf,
} from '../../../../tests/support/models/naive-domain.ts';
import { policy } from '../policy.ts';
import type { AirlineState } from '../schema.ts';
import { actions } from '../tools.ts';

export type Outcome = OutcomeOf<AirlineState>;

const naive = new NaiveDomain<AirlineState>({ actions, policy, copyOf });

/** Runs a tool on a copy and returns the verdict of the whole policy on the resulting state. */
export function attempt(state: AirlineState, name: string, args: unknown): Outcome {
  return naive.attempt(state, name, args);
}

/** Runs a tool in place. */
export function perform(state: AirlineState, name: string, args: unknown): void {
  naive.perform(state, name, args);
}

/** The first invariant that does not pass, or a pass. */
export function judge(state: AirlineState): Judgement {
  return naive.judge(state);
}

/** Writes the approval of an escalation. */
export function approve(state: AirlineState, id: string, keys: readonly string[]): AirlineState {
  return naive.approve(state, id, keys);
}

/** Flights are written by no tool, and half of the database. */
export function copyOf({ flights, ...rest }: AirlineState): AirlineState {
  return { ...structuredClone(rest), flights };
}
