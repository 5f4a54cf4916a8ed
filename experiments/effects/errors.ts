import { AssizeError } from 'assize';

export type FaultsErrorCode =
  /** An optional library is not installed; the message says which and how. */
  | 'not_installed'
  /** The folder of real data has none of what the experiment is made with. */
  | 'no_data';

/** An experiment that can't be run here. */
export class FaultsError extends AssizeError<FaultsErrorCode> {
  override readonly name = 'FaultsError';
}
