import { arg, checkArgument } from '#base';
import { rootAt } from '#merkle';
import type { LogStore } from '../ports/ledger-store.ts';
import { askNodes } from './nodes.ts';

/** A size of the log and the root at that size. */
export interface LogHead {
  readonly size: number;
  readonly root: Uint8Array;
}

/** The current log, without entries that have no position yet. */
export async function logHead(store: LogStore): Promise<LogHead> {
  const size = await store.logSize();
  return { size, root: await askNodes(store, (read) => rootAt(size, read)) };
}

/** The relation of a store's log to a saved tree head. */
export type LogComparison =
  /** The log has the saved head, or continues after it. */
  | { readonly stands: 'at' | 'ahead'; readonly size: number }
  /** Entries of the saved log are missing, from position `size` on. */
  | { readonly stands: 'truncated'; readonly size: number }
  /**
   * The same number of entries has another root: an entry was changed, or the head belongs to
   * another log.
   */
  | { readonly stands: 'diverged'; readonly size: number };

/**
 * Compares the log with a head saved outside the store. The comparison detects a lost tail or a
 * rewritten suffix. A chain alone cannot detect these. Takes O(log n) reads. `fsck` checks that
 * entries still match the log.
 *
 * @throws ArgumentError `bad_argument`
 */
export async function compareWithHead(
  store: LogStore,
  kept: { size: number | bigint; root: Uint8Array },
): Promise<LogComparison> {
  checkArgument(arg.members({ size: arg.number, root: arg.bytes }), kept, 'kept');
  const size = await store.logSize();
  if (kept.size > size) return { stands: 'truncated', size };
  const then = Number(kept.size);
  const root = await askNodes(store, (read) => rootAt(then, read));
  if (Buffer.compare(root, kept.root) !== 0) return { stands: 'diverged', size };
  // The hashes can exist while the entries are missing.
  if (then > 0 && (await store.logged(then - 1, 1)).length === 0)
    return { stands: 'truncated', size: then - 1 };
  return { stands: then === size ? 'at' : 'ahead', size };
}

/**
 * The fault of a truncated or diverged store and the next step, in one sentence. Undefined if the
 * store is sound.
 */
export function comparisonFault(
  { stands, size }: LogComparison,
  kept: { readonly origin: string; readonly size: number | bigint },
): string | undefined {
  if (stands === 'truncated') {
    const lost = BigInt(kept.size) - BigInt(size);
    return (
      `The last checkpoint of ${kept.origin} has ${kept.size} entries and this store has ${size}: ` +
      `${lost} ${lost === 1n ? 'entry is' : 'entries are'} missing, from position ${size} of the log. ` +
      'The log was truncated, or replaced by an older copy. Restore the whole store from a backup.'
    );
  }
  if (stands !== 'diverged') return undefined;
  return (
    `The first ${kept.size} entries of this store do not match the checkpoint of ${kept.origin}: ` +
    'its history was rewritten, or the checkpoint belongs to another store.'
  );
}
