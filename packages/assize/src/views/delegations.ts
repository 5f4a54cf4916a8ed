import type { DelegationPayload, EntryRow, LedgerStore } from '#ledger';
import { pages, readable } from './entries.ts';

/** The conclusions of delegations, by the id of the starting entry. */
export type Conclusions = ReadonlyMap<string, EntryRow>;

/** Every recorded conclusion of a trajectory from that seq on, unverified. */
export async function conclusionsOf(
  store: LedgerStore,
  trajectoryId: string,
  from: number,
): Promise<Conclusions> {
  const found = new Map<string, EntryRow>();
  for await (const rows of pages(store, trajectoryId, {
    from,
    limit: Number.MAX_SAFE_INTEGER - from,
  })) {
    for (const row of rows) {
      const concludes = delegationOf(row)?.concludes;
      if (concludes !== undefined) found.set(concludes, row);
    }
  }
  return found;
}

/** The payload of a readable delegation entry. */
export function delegationOf(row: EntryRow): DelegationPayload | undefined {
  if (row.kind !== 'delegation') return undefined;
  const payload = readable(row)?.payload;
  return payload?.kind === 'delegation' ? payload : undefined;
}

/** The kind of a delegation entry, and the state of its delegation. */
export interface DelegationStep {
  readonly step: 'start' | 'answer' | 'conclusion';
  readonly child: string;
  readonly task: string;
  /** The starting entry: the entry itself, for a start. */
  readonly started_by: string;
  /**
   * The parent's entry that concludes the delegation. Null while it is open. Absent if it was not
   * looked up.
   */
  readonly concluded_by?: string | null;
}

/**
 * Looked up in `conclusions`, for a start. An answer does not show whether its parent has adopted
 * it.
 */
export function stepOf(
  row: EntryRow,
  payload: DelegationPayload,
  conclusions?: Conclusions,
): DelegationStep {
  const { child_trajectory_id: child, task, concludes } = payload;
  if (concludes === undefined) {
    const looked = conclusions && { concluded_by: conclusions.get(row.id)?.id ?? null };
    return { step: 'start', child, task, started_by: row.id, ...looked };
  }
  if (child === row.trajectory_id) return { step: 'answer', child, task, started_by: concludes };
  return { step: 'conclusion', child, task, started_by: concludes, concluded_by: row.id };
}
