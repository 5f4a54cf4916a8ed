import { AssizeError } from '#base';

export type ExportErrorCode =
  /** A line is not what an export has there; or what is to be exported has lost an entry. */
  | 'bad_export'
  /** The store has other entries at the same places. */
  | 'import_conflict'
  /** The store could not tell whether it committed; the same import again settles it. */
  | 'import_unknown';

/** An export that can't be read, or not be imported, or not be written; `evidence.line` says where what is read stands, from 1. */
export class ExportError extends AssizeError<ExportErrorCode> {
  override readonly name: string = 'ExportError';
}
