import type { Json } from 'assize/internal/base';
import type { Hash, LedgerStore } from 'assize/internal/ledger';
import type { Rules } from '#gateway';
import type { GatewayRule } from './write/gateway-rule.ts';

type ShownRuling = { readonly [member: string]: Json };

/** A recorded call that a rule would rule on otherwise. */
export interface RuleDifference {
  readonly trajectory_id: string;
  readonly seq: number;
  readonly entry_id: Hash;
  readonly action: string;
  readonly at: string;
  /** The ruling under the rules without this one. */
  readonly without: ShownRuling;
  readonly with: ShownRuling;
}

/** The recorded calls that a rule would rule on otherwise. */
export interface RuleBacktest {
  /** The calls that were ruled on again. */
  readonly judged: number;
  readonly difference_count: number;
  /** Numbers of differences by kind, such as `committed_to_escalated`. */
  readonly changes: { readonly [kind: string]: number };
  /** The first twenty. */
  readonly differences: readonly RuleDifference[];
}

/** Rules on the recorded calls again, with each of the rules added to those of the options. */
export type BacktestRules = (
  store: LedgerStore,
  added: readonly GatewayRule[],
  options: {
    /** Trajectories of the domain `gateway`. */
    readonly trajectoryIds: readonly string[];
    readonly rules: Rules;
    readonly onProgress?: (done: number, total: number) => void;
  },
) => Promise<readonly RuleBacktest[]>;
