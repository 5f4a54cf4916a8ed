import { isAssizeError } from 'assize/internal/base';
import { readCanonical } from 'assize/internal/canon';
import {
  checkRow,
  type EntryRow,
  type Hash,
  type LedgerStore,
  type LogStore,
  type Payload,
  readRow,
} from 'assize/internal/ledger';
import { isInScope, type SearchedScope, writOf } from './scope.ts';
import { subjectIn, writsIn } from './writs.ts';

const PAGE = 1_000;

/** The entries of a trajectory, page by page: from a seq on, and before another one. */
export async function* pagesOf(
  store: Pick<LedgerStore, 'entries'>,
  trajectoryId: string,
  from: number,
  to: number,
): AsyncGenerator<readonly EntryRow[]> {
  for (let seq = from; seq < to; ) {
    const rows = await store.entries(trajectoryId, { from: seq, limit: Math.min(PAGE, to - seq) });
    if (rows.length === 0) return;
    yield rows;
    seq += rows.length;
  }
}

/** The number of entries of a trajectory at the first positions of the log. */
export async function coveredEntries(
  store: Pick<LedgerStore & LogStore, 'entries' | 'head' | 'logIndex'>,
  trajectoryId: string,
  size: number,
): Promise<number> {
  const head = await store.head(trajectoryId);
  if (head === undefined) return 0;
  return firstSeq(head.seq + 1, async (seq) => {
    const [row] = await store.entries(trajectoryId, { from: seq, limit: 1 });
    const index = row && (await store.logIndex(row.id));
    return index === undefined || index >= size;
  });
}

/**
 * The entries in scope, in the order of trajectories and seq. Reads only the pages of the period.
 *
 * @throws LedgerFault for an entry that is not valid
 */
export async function* searched(
  store: LedgerStore,
  scope: SearchedScope,
  signal: AbortSignal | undefined,
): AsyncGenerator<EntryRow> {
  const { trajectory } = scope;
  const all =
    trajectory === undefined ? await store.trajectories() : [await infoOf(store, trajectory)];
  for (const { trajectory_id: id, entries } of all) {
    const from = scope.from === undefined ? 0 : await seqAt(store, id, entries, scope.from);
    const to = scope.to === undefined ? entries : await seqAt(store, id, entries, scope.to);
    const subjectOf = scope.kind === 'person' ? await subjects(store, id) : undefined;
    for await (const rows of pagesOf(store, id, from, to)) {
      signal?.throwIfAborted();
      for (const row of rows) {
        const payload = payloadOf(row);
        const subject = await subjectOf?.(payload);
        if (isInScope(scope, { id: row.id, payload }, () => subject)) yield row;
      }
    }
  }
}

async function infoOf(store: LedgerStore, trajectoryId: string) {
  const head = await store.head(trajectoryId);
  return { trajectory_id: trajectoryId, entries: head === undefined ? 0 : head.seq + 1 };
}

/** The first seq of a trajectory at that time or later. Times never go back in a trajectory. */
async function seqAt(
  store: LedgerStore,
  trajectoryId: string,
  entries: number,
  at: string,
): Promise<number> {
  return firstSeq(entries, async (seq) => {
    const [row] = await store.entries(trajectoryId, { from: seq, limit: 1 });
    return row === undefined || payloadOf(row).at >= at;
  });
}

/** The first seq below `end` with a property that all later ones have too, or `end`. */
async function firstSeq(end: number, has: (seq: number) => Promise<boolean>): Promise<number> {
  let [low, high] = [0, end];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (await has(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Finds the subjects of the writs of entries. Each writ is read once. */
async function subjects(
  store: LedgerStore,
  trajectoryId: string,
): Promise<(payload: Payload) => Promise<string | undefined>> {
  const [first] = await store.entries(trajectoryId, { limit: 1 });
  const known = new Map<Hash, string | undefined>();
  for (const [id, writ] of first === undefined ? [] : writsIn(payloadOf(first)))
    known.set(id, subjectIn(writ));
  return async (payload) => {
    const id = writOf(payload);
    if (id === undefined) return undefined;
    if (!known.has(id)) {
      const text = await store.blob(id);
      known.set(id, text === undefined ? undefined : subjectIn(readCanonical(text)));
    }
    return known.get(id);
  };
}

/**
 * The payload of a stored row. A row that is selected is checked later.
 *
 * @throws LedgerFault for a text that cannot be read
 */
function payloadOf(row: EntryRow): Payload {
  try {
    return readRow(row).payload;
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    return checkRow(row).payload;
  }
}
