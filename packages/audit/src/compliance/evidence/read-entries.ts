import { isInstance } from 'assize/internal/base';
import {
  checkRow,
  type Entry,
  type EntryRow,
  LedgerFault,
  type LogStore,
} from 'assize/internal/ledger';
import { Frontier, leafHash } from 'assize/internal/merkle';

const PAGE = 1_000;

/** The result of reading the log, without its entries. */
export interface LogRead {
  /** The number of read positions. It is smaller than the asked size if an entry is missing. */
  readonly size: number;
  /** The RFC 6962 root over the read entries, computed from their texts. */
  readonly root: Uint8Array;
  /** The number of entries of each trajectory, readable or not. */
  readonly lengths: ReadonlyMap<string, number>;
  /** Entries whose text does not have their id, or is not an entry. */
  readonly unreadable: number;
}

/**
 * Reads the first entries of the log in order. An entry that does not verify on its own is counted
 * and not passed on. The reading ends before a missing position.
 */
export async function readEntries(
  store: LogStore,
  size: number,
  listeners: {
    readonly onEntry: (entry: Entry, position: number) => Promise<void>;
    /** Called after each page, with the number of read positions. */
    readonly onPage: (done: number) => void;
  },
): Promise<LogRead> {
  const frontier = new Frontier();
  const lengths = new Map<string, number>();
  let unreadable = 0;
  for (let at = 0; at < size; ) {
    const wanted = Math.min(PAGE, size - at);
    const rows = await store.logged(at, wanted);
    const whole = rows.length === wanted ? rows : rows.slice(0, await firstGap(store, rows, at));
    for (const [i, row] of whole.entries()) {
      frontier.append([leafHash(Buffer.from(String(row.payload)))]);
      lengths.set(row.trajectory_id, (lengths.get(row.trajectory_id) ?? 0) + 1);
      const entry = entryOf(row);
      if (entry === undefined) unreadable++;
      else await listeners.onEntry(entry, at + i);
    }
    at += whole.length;
    listeners.onPage(at);
    if (whole.length < wanted) break;
  }
  return { size: frontier.size, root: frontier.root(), lengths, unreadable };
}

/** The number of rows before the first position without an entry. */
async function firstGap(store: LogStore, rows: readonly EntryRow[], at: number): Promise<number> {
  for (const [i, { id }] of rows.entries()) if ((await store.logIndex(id)) !== at + i) return i;
  return rows.length;
}

function entryOf(row: EntryRow): Entry | undefined {
  try {
    return checkRow(row);
  } catch (error) {
    if (isInstance(error, LedgerFault)) return undefined;
    throw error;
  }
}
