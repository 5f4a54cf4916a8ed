import { AssizeError } from 'assize';

/** An optional library is not installed; the message says which and how. */
export type FaultsErrorCode = 'not_installed';

/** An experiment that can't be run here. */
export class FaultsError extends AssizeError<FaultsErrorCode> {
  override readonly name = 'FaultsError';
}
