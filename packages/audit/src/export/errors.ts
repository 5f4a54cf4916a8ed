import { AssizeError } from 'assize/internal/base';

export type ExportErrorCode =
  /**
   * A line of the export is not valid, or the exported log has lost an entry. Export again from an
   * intact store. Evidence `{line}`.
   */
  'bad_export';

/** An export that cannot be read, imported or written. `evidence.line` counts lines from 1. */
export class ExportError extends AssizeError<ExportErrorCode> {
  override readonly name: string = 'ExportError';
}
