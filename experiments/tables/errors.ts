import { AssizeError } from 'assize';

export type TableErrorCode =
  /** An optional library is not installed; the message says which and how. */
  | 'not_installed'
  /** A table that can't be drawn; the message says why. */
  | 'bad_input';

/** A table can't be shown. */
export class TableError extends AssizeError<TableErrorCode> {
  override readonly name = 'TableError';
}
