import { AssizeError } from 'assize';

export type TableErrorCode =
  /** An optional package is not installed. Install the package that the message names. */
  | 'not_installed'
  /** The table can't be drawn. Correct the column or row that the message names. */
  | 'bad_input';

/** A table that can't be shown. */
export class TableError extends AssizeError<TableErrorCode> {
  override readonly name = 'TableError';
}
