import type { ProposedCall } from '../domain/call.ts';
import type { Instant } from '../domain/domain-spec.ts';
import type { Observed } from '../domain/role.ts';

/** The inputs of `apply` other than state, role and arguments. */
export interface Inputs {
  readonly at: Instant;
  readonly observations: readonly Observed[];
  /**
   * The changing calls that were planned or made, in call order. Default: exactly the calls that
   * the action declares.
   */
  readonly calls?: readonly InputCall[];
}

/** A call of a proposal. `isDeclared`: planned because the action declares it. */
export interface InputCall extends ProposedCall {
  readonly isDeclared?: boolean;
}
