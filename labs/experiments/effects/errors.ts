import { AssizeError } from 'assize';

export type FaultsErrorCode =
  /** An optional package is not installed. Install the package that the message names. */
  | 'not_installed'
  /**
   * The data folder lacks the data of this experiment. Name the folder with `ASSIZE_DATA` or
   * `--data`.
   */
  | 'no_data'
  /**
   * A file of the data folder is damaged or has another form. Restore the file that the message
   * names.
   */
  | 'bad_data';

/** An experiment of the effects paper that can't run here. */
export class FaultsError extends AssizeError<FaultsErrorCode> {
  override readonly name = 'FaultsError';
}
