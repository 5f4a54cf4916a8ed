/** The channel that any counselor may resolve. */
export const ANY_COUNSELOR = 'any';

/** Maximum number of approvers for one proposal. */
export const APPROVALS_MAX = 8;

/** Maximum time for which a proposal waits for an event, in milliseconds. */
export const WAIT_MS_MAX = 999_999_999_999;

/** The kind of counselor that may decide for another kind, once a proposal has waited so long. */
export interface Deputy {
  readonly kind: string;
  readonly afterMs: number;
}
