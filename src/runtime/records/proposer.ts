import type { ProposalInput } from './intent.ts';
import type { Ruling } from './ruling.ts';
import type { Acting } from './tool-authority.ts';

/** Proposes an action on one trajectory, as a tool transaction does when it commits. */
export interface Proposer {
  /** `acting`: the effects of the tool transaction that the proposal commits. */
  propose(input: ProposalInput, acting?: Acting): Promise<Ruling>;
  /** The ruling on the transaction with this idempotency key, or undefined before there is one. */
  ruledUnder(key: string, principal: string): Promise<Ruling | undefined>;
}
