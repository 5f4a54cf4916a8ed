import { AssizeError } from 'assize/internal/base';

/** A report that cannot be made as asked. Nothing is read or written in its place. */
export class ComplianceError extends AssizeError<never> {
  override readonly name = 'ComplianceError';
}
