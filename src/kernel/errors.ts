import { AssizeError } from '#base';

/** What is left where something that waits can't be approved. The key or name that it has is answered with the rejection from then on. */
export const PROPOSE_AGAIN_HINT =
  'Reject it and let it be proposed again, under another name or idempotency key where it has one';

export type KernelErrorCode =
  /**
   * The domain can't run: unknown process, duplicate invariant, unsupported schema, or the like.
   * Correct the part that the message names.
   */
  | 'invalid_domain'
  /** The state does not fit the schema, or breaks an invariant. Give a state that passes. */
  | 'invalid_state'
  /**
   * The principal may not decide on this channel, or made the request. Ask a counselor of the
   * channel.
   */
  | 'unauthorised_counselor'
  /**
   * The principal has already approved the proposal. Ask another counselor for the remaining
   * approval.
   */
  | 'already_approved'
  /**
   * The proposal would now do something else than was submitted for approval. Reject it, and let
   * the agent propose again.
   */
  | 'changed_since'
  /**
   * The result breaks an invariant, and the approval has no `override`. Approve with `override`, or
   * reject.
   */
  | 'override_needed'
  /**
   * The counselor's replacement state does not fit the schema, or changes parts outside the frozen
   * ones. Correct the state.
   */
  | 'invalid_replacement';

/** Misuse of the kernel, or a refused decision of a counselor. Nothing was changed. */
export class KernelError extends AssizeError<KernelErrorCode> {
  override readonly name: string = 'KernelError';
}

/** Domain code left its footprint, or wrote to what it may only read. Becomes a refusal, never leaves the kernel. */
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
  part: 'is only partly in the footprint, so it can’t be replaced or deleted as a whole; change what is in it',
};

/** Domain code wrote something that is not JSON. Becomes a refusal, never leaves the kernel. */
export class ValueFault extends Error {}

/** Longest text that domain code adds to an entry. */
const DETAIL_MAX = 2_000;

/** A text of domain code, fit for an entry: well-formed, and of a length that a person reads. */
export function sentence(text: string): string {
  return text.slice(0, DETAIL_MAX).toWellFormed();
}

/** What was thrown, in words; total, because anything may be thrown. */
export function messageOf(error: unknown): string {
  try {
    return sentence(String(error instanceof Error ? error.message : error));
  } catch {
    return 'it threw something that has no text';
  }
}
