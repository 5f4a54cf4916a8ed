import { AssizeError } from '#canon';

/**
 * - `store_unknown`: no store goes by that URL.
 * - `store_not_found`: the file, or the folder it should be in, is not there.
 * - `store_not_ours`: something is there that is not an Assize store; it was left as it was.
 * - `store_newer_schema`: a newer version of Assize wrote it. `store_older_schema`: it needs a migration that a reader can't do.
 * - `store_readonly`: the file, its folder or the way it was opened does not allow writing.
 * - `store_locked`: someone else held the file for too long; nothing was written; retryable.
 * - `store_corrupt`: the file is damaged. `store_failed`: the database or the file system refused, see `cause`.
 * - `store_closed`: closed before the call. `store_poisoned`: a write failed, so that only opening anew tells what the disk has.
 * - `store_invalid_input`: the caller's rows or arguments are not what the port says; nothing was written.
 */
export type StoreErrorCode =
  | 'store_unknown'
  | 'store_not_found'
  | 'store_not_ours'
  | 'store_newer_schema'
  | 'store_older_schema'
  | 'store_readonly'
  | 'store_locked'
  | 'store_corrupt'
  | 'store_failed'
  | 'store_closed'
  | 'store_poisoned'
  | 'store_invalid_input';

/** What every store throws; `evidence` names the file, row or argument at fault. */
export class StoreError extends AssizeError<StoreErrorCode> {
  override readonly name = 'StoreError';
}
