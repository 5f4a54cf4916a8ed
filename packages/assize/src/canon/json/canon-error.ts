import { AssizeError, type ErrorDetails, type GeneralCode } from '#base';

/**
 * Stable, for programs: a code is never renamed or reused. Other faults of a text are `bad_input`,
 * and those of a value `not_json`.
 */
export type CanonErrorCode =
  /** The text is not JSON. Correct the syntax at the pointer. */
  | 'syntax'
  /** The value is nested too deep, or has too many parts. Pass less, as the message says. */
  | 'too_complex'
  /** The stored text is not its own canonical form. Restore the text from a backup or an export. */
  | 'not_canonical';

/**
 * A value or a text that canonical JSON does not allow. `pointer` (RFC 6901) leads to the place
 * inside the value; it is '' when the whole value is at fault, and stands in the evidence as well.
 */
export class CanonError extends AssizeError<CanonErrorCode> {
  override readonly name = 'CanonError';
  readonly pointer: string;

  constructor(
    code: CanonErrorCode | GeneralCode,
    pointer: string,
    message: string,
    details: ErrorDetails = {},
  ) {
    super(code, message, { ...details, evidence: { ...details.evidence, pointer } });
    this.pointer = pointer;
  }
}
