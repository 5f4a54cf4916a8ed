import { AssizeError } from 'assize/internal/base';

export type ComplianceErrorCode =
  /** No framework has that name. Pass one of the names in the message. */
  | 'unknown_framework'
  /** The period has no length: it begins at its end or later. Pass an earlier begin. */
  | 'empty_period'
  /** The ledger has no trajectory of that name. List the names with `assize log`. */
  | 'unknown_trajectory'
  /** The log does not have that many entries. Pass a size from 1 to the size in the message. */
  | 'unknown_log_size';

/** A report that cannot be made as asked. Nothing is read or written in its place. */
export class ComplianceError extends AssizeError<ComplianceErrorCode> {
  override readonly name = 'ComplianceError';
}
