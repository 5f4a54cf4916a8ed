import { AssizeError } from '#base';

export type ExportErrorCode =
  /**
   * A line of the export is not valid, or the exported log has lost an entry. Export again from an
   * intact store. Evidence `{line}`.
   */
  | 'bad_export'
  /** The store has other entries at the same positions. Import into an empty store. */
  | 'import_conflict'
  /** The store did not confirm whether it committed. Run the same import again. */
  | 'import_unknown';

/** An export that cannot be read, imported or written. `evidence.line` counts lines from 1. */
export class ExportError extends AssizeError<ExportErrorCode> {
  override readonly name: string = 'ExportError';
}
