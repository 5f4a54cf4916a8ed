import type { Json } from 'assize/internal/base';
import type { Instant } from 'assize/internal/canon';
import type { EntryRow, Hash, Stored } from 'assize/internal/ledger';
import type { FinalRuling, Ruling, Trajectory } from 'assize/internal/runtime';
import type { GatewayState } from '#gateway';

/** The actions of an agent in the gateway domain. */
export type AgentAction = 'call' | 'begin' | 'report' | 'session';

export interface ProposeOptions {
  /** The idempotency key. Default: each proposal is another one. */
  readonly key?: string;
  readonly observations?: readonly Observed[];
}

/** Where and how a call was asked for. */
export interface Observed {
  readonly name: string;
  readonly value: Json;
}

/** Where an entry is. */
export interface EntryPlace {
  readonly trajectory_id: string;
  readonly seq: number;
}

/** The world of tool calls for one agent: a trajectory of the gateway domain, in its role. */
export interface CallWorld {
  readonly trajectory: Trajectory;
  /** The agent of the role. */
  readonly agent: string;
  /** The principal of the proposals. */
  readonly principal: string;
  /** The trace context of the agent's request, if it has one. */
  readonly traceparent?: string | undefined;
  now(): Instant;
  /** Reads the state. Nothing of it may leave `read`. */
  read<T>(read: (state: GatewayState) => T): T;
  /** @throws the errors of `Trajectory.propose` */
  propose(action: AgentAction, args: object, more?: ProposeOptions): Promise<Ruling>;
  /**
   * The decision about a question.
   *
   * @throws the errors of `Approvals.awaitDecision`, such as `still_pending`
   */
  decision(pending: Hash, until: Instant): Promise<FinalRuling>;
  /** The entries of the trajectory from a position on, in order, at most `limit`. */
  entries(from: number, limit: number): Promise<readonly EntryRow[]>;
  /** A value of an entry. Undefined if it is erased. */
  valueOf(entry: EntryPlace, stored: Stored): Promise<Json | undefined>;
}
