import { AssizeError } from '#base';

/**
 * - `store_unknown`: no store goes by that URL.
 * - `store_not_found`: the file, or the folder it should be in, is not there; the database or its schema.
 * - `store_not_ours`: something is there that is not an Assize store; it was left as it was.
 * - `store_newer_schema`: a newer version of Assize created the store, or has migrated it since it was opened; nothing was written then.
 * - `store_older_schema`: the store needs a migration, which a reader cannot run; or a development version of Assize created
 *   the store, and no migration reads its schema.
 * - `store_readonly`: the file, its folder or the way it was opened does not allow writing.
 * - `store_locked`: someone else held the file, or a row, for too long; nothing was written; retryable.
 * - `store_unreachable`: no connection to the server, or it was lost. Of a call that it fails nothing was written; as the cause
 *   of an unknown commit it says why no one can tell. Retryable, unless the connection is refused for its TLS.
 * - `store_denied`: the server does not let this user in, or not do that. `store_no_driver`: the package for it is not installed, or can't be loaded on this machine.
 * - `store_corrupt`: the file or table is damaged. `store_failed`: the database or the file system refused, see `cause`.
 * - `store_closed`: closed before the call. `store_poisoned`: a write failed, so that only opening anew tells what the disk has.
 * - `store_behind_checkpoint`: entries of the last checkpoint are missing. `store_apart_from_checkpoint`: they are other ones.
 *   `store_bad_checkpoint`: it can't be read.
 * - `store_not_scrubbed`: an erasure is committed, and bytes of what it erased may still be in the store's files; retryable.
 * - `store_facts_incomplete`: what is believed is being made anew from the ledger, or awaits the end of an import, or that was interrupted.
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
  | 'store_unreachable'
  | 'store_denied'
  | 'store_no_driver'
  | 'store_corrupt'
  | 'store_failed'
  | 'store_closed'
  | 'store_poisoned'
  | 'store_not_scrubbed'
  | 'store_facts_incomplete'
  | 'store_invalid_input'
  | 'store_behind_checkpoint'
  | 'store_apart_from_checkpoint'
  | 'store_bad_checkpoint';

/** What every store throws; `evidence` names the file, row or argument at fault. */
export class StoreError extends AssizeError<StoreErrorCode> {
  override readonly name = 'StoreError';
}

export function closedError(path: string): StoreError {
  return new StoreError('store_closed', `The store ${path} is closed; open it again to use it.`, {
    evidence: { path },
  });
}
