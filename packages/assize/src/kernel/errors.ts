import { AssizeError, thrownText } from '#base';

/**
 * Advice for a pending proposal that cannot be approved. Its idempotency key or name returns the
 * rejection from then on.
 */
export const PROPOSE_AGAIN_HINT =
  'Reject it and propose it again, with a new name or idempotency key if it has one';

export type KernelErrorCode =
  /**
   * The domain is not valid: unknown process, duplicate invariant, unsupported schema, or the like.
   * Correct the part that the message names.
   */
  | 'invalid_domain'
  /**
   * The principal is not a counselor of the channel, or made the request. Ask a counselor of the
   * channel.
   */
  | 'unauthorised_counselor'
  /**
   * The principal has already approved the proposal. Ask another counselor for the remaining
   * approval.
   */
  | 'already_approved'
  /**
   * The proposal has changed since it was submitted for approval. Reject it, and propose it again.
   */
  | 'changed_since'
  /**
   * The result violates an invariant that some approver has not overridden. Reject the proposal, or
   * correct `onApprove` so that an approval makes the invariant pass.
   */
  | 'override_needed'
  /** The result violates an invariant that no approval overrides. Reject the proposal. */
  | 'final_rule'
  /**
   * The amended proposal is refused, or a proposal of this kind cannot be amended. Amend it
   * otherwise, or reject it.
   */
  | 'invalid_amendment';

/** Misuse of the kernel, or a refused decision of a counselor. Nothing was changed. */
export class KernelError extends AssizeError<KernelErrorCode> {
  override readonly name: string = 'KernelError';
}

/**
 * Domain code left its footprint, or wrote to a read-only path. The kernel turns this error into a
 * refusal.
 */
export class FootprintFault extends Error {
  readonly pointer: string;

  constructor(pointer: string, what: keyof typeof FAULTS) {
    super(`${pointer} ${FAULTS[what]}`);
    this.pointer = pointer;
  }
}

const FAULTS = {
  read: 'is outside the footprint',
  write: 'is read-only here',
  part: 'is only partly in the footprint and cannot be replaced or deleted as a whole; change its parts',
};

/** Domain code wrote a value that is not JSON. The kernel turns this error into a refusal. */
export class ValueFault extends Error {}

/** Maximum length of a text that domain code adds to an entry. */
const DETAIL_MAX = 2_000;

/** A text of domain code in the form of an entry: well-formed and truncated. */
export function sentence(text: string): string {
  return text.slice(0, DETAIL_MAX).toWellFormed();
}

/** The message of a thrown value. Total, because any value may be thrown. */
export function messageOf(error: unknown): string {
  return sentence(thrownText(error));
}
