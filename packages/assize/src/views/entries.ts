import { isAssizeError } from '#base';
import { parseStrict } from '#canon';
import { type Entry, type EntryRow, isPayload, type LedgerStore } from '#ledger';

/** Number of entries per read. */
const PAGE = 1_000;
/** Digits of an id in a narrow column. */
const SHORT = 12;

export function shortId(id: string): string {
  return id.slice(0, SHORT);
}

/** Pages of a trajectory's entries in order. */
export async function* pages(
  store: LedgerStore,
  trajectoryId: string,
  { from, limit }: { readonly from: number; readonly limit: number },
): AsyncGenerator<EntryRow[]> {
  for (let seq = from; seq < from + limit; ) {
    const rows = await store.entries(trajectoryId, {
      from: seq,
      limit: Math.min(PAGE, from + limit - seq),
    });
    if (rows.length === 0) return;
    yield rows;
    seq += rows.length;
  }
}

/**
 * The row with its payload read, but not verified. Undefined if the kind of the payload is unknown,
 * or if the seal does not hold.
 */
export function readable(row: EntryRow): Entry | undefined {
  if (row.unsealed !== undefined) return undefined;
  try {
    const payload: unknown = parseStrict(row.payload);
    return isPayload(payload) ? { ...row, kind: payload.kind, payload } : undefined;
  } catch (error) {
    if (isAssizeError(error)) return undefined;
    throw error;
  }
}
