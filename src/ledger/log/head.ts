import { form, requireForm } from '#base';
import { rootAt } from '#merkle';
import type { LogStore } from '../ports/ledger-store.ts';
import { askNodes } from './nodes.ts';

/** A size of the log and its root. */
export interface LogHead {
  readonly size: number;
  readonly root: Uint8Array;
}

/** The log as it is, without what has no place yet. */
export async function logHead(store: LogStore): Promise<LogHead> {
  const size = await store.logSize();
  return { size, root: await askNodes(store, (read) => rootAt(size, read)) };
}

/** How a store stands to a tree head that somebody kept. */
export type Standing =
  /** The log goes on from there, or stands there. */
  | { readonly stands: 'at' | 'ahead'; readonly size: number }
  /** Entries that were in the log are gone: all from place `size` on. */
  | { readonly stands: 'behind'; readonly size: number }
  /** As many entries as then do not make the same root: something was changed, or another log is meant. */
  | { readonly stands: 'apart'; readonly size: number };

/**
 * Compares the log with a head that was kept outside: what a chain alone can't notice, a lost tail or a suffix that was
 * written anew, shows here. O(log n) reads; that entries still say what was logged is for `fsck` to see.
 *
 * @throws ArgumentError `bad_argument`
 */
export async function standingOf(
  store: LogStore,
  kept: { size: number | bigint; root: Uint8Array },
): Promise<Standing> {
  requireForm(form.members({ size: form.number, root: form.bytes }), kept, 'kept');
  const size = await store.logSize();
  if (kept.size > size) return { stands: 'behind', size };
  const then = Number(kept.size);
  const root = await askNodes(store, (read) => rootAt(then, read));
  if (Buffer.compare(root, kept.root) !== 0) return { stands: 'apart', size };
  // The hashes may be there and the entries not.
  if (then > 0 && (await store.logged(then - 1, 1)).length === 0) return { stands: 'behind', size: then - 1 };
  return { stands: then === size ? 'at' : 'ahead', size };
}

/** What is wrong with a store that stands behind or apart, in a sentence that says what to do; undefined when nothing is. */
export function standingFault(
  { stands, size }: Standing,
  kept: { readonly origin: string; readonly size: number | bigint },
): string | undefined {
  if (stands === 'behind') {
    const lost = BigInt(kept.size) - BigInt(size);
    return (
      `The last checkpoint of ${kept.origin} is of ${kept.size} entries and this store has ${size}: ` +
      `${lost} ${lost === 1n ? 'entry is' : 'entries are'} missing, from place ${size} of the log on. ` +
      'Its end was cut off, or an older copy was put in its place; bring back the whole one.'
    );
  }
  if (stands !== 'apart') return undefined;
  return (
    `The first ${kept.size} entries of this store are not those of the checkpoint of ${kept.origin}: ` +
    'its history was written anew, or the checkpoint is of another store.'
  );
}
