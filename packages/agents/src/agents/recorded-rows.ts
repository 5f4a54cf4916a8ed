import { checkRow, type Entry, observationsOf, PAGE, type Payload } from 'assize/internal/ledger';
import { turnNamedBy } from 'assize/internal/oracle';
import type { ReplayedLedger } from './replay-store.ts';

/** A recorded entry with its turn. Undefined if no turn of a run proposed the entry. */
export interface RecordedEntry {
  readonly entry: Entry;
  readonly turn: number | undefined;
}

/**
 * All entries of a trajectory. @throws LedgerFault for a damaged entry; StoreError from the store
 */
export async function recordedEntries(
  store: ReplayedLedger,
  trajectoryId: string,
): Promise<RecordedEntry[]> {
  const found: RecordedEntry[] = [];
  for (;;) {
    const rows = await store.entries(trajectoryId, { from: found.length, limit: PAGE });
    if (rows.length === 0) return found;
    for (const row of rows) {
      const entry = checkRow(row);
      found.push({ entry, turn: turnOf(trajectoryId, entry.payload) });
    }
  }
}

/**
 * An entry names its turn in its observations, by name and by key. A resolution has the
 * observations of the pending proposal.
 */
function turnOf(trajectoryId: string, payload: Payload): number | undefined {
  if ('resolves' in payload && payload.resolves !== undefined) return undefined;
  const named = observationsOf(payload).map((observation) =>
    turnNamedBy(trajectoryId, observation),
  );
  return named.find((turn) => turn !== undefined);
}
