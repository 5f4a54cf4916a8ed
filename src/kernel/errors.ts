import { AssizeError } from '#base';

/** What is left where something that waits can't be approved. The key or name that it has is answered with the rejection from then on. */
export const PROPOSE_ANEW =
  'Reject it and let it be proposed again, under another name or idempotency key where it has one';

export type KernelErrorCode =
  /** A domain module that can't be run: unknown process, duplicate invariant, unsupported schema, … */
  | 'invalid_domain'
  /** A state that does not fit the schema or breaks an invariant where none may be broken. */
  | 'invalid_state'
  /** The principal is no counselor of the channel, or is the requester. */
  | 'unauthorised_counselor'
  /** The principal has approved it before, and it takes the approval of another one. */
  | 'approved_before'
  /** What would run now is not what was put up for approval. */
  | 'changed_since'
  /** The result does not pass every invariant and the counselor did not say `override`. */
  | 'override_needed'
  /** The counselor's own state does not fit the schema, or lies outside what is frozen for it. */
  | 'invalid_replacement';

/** Misuse of the kernel, or a counselor's act that is refused; nothing was changed. */
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
