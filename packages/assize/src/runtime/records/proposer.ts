import type { ProposedCall } from '#kernel';
import type { ProposalInput } from './intent.ts';
import type { Ruling } from './ruling.ts';
import type { CommitPlan } from './tool-authority.ts';

/** Proposes an action on one trajectory, as a tool transaction does when it commits. */
export interface Proposer {
  /** `acting`: the effects of the tool transaction that the proposal commits. */
  propose(input: ProposalInput, acting?: CommitPlan): Promise<Ruling>;
  /**
   * The calls that the proposed action declares on the current state. None if it declares none, or
   * if the proposal would be refused.
   */
  declaredCalls(input: ProposalInput): readonly ProposedCall[];
  /** The ruling on the transaction with this idempotency key, or undefined before there is one. */
  rulingFor(key: string, principal: string): Promise<Ruling | undefined>;
}
