import type { DelegationPayload, EntryRow, LedgerStore } from '#ledger';
import { pages, readable } from './entries.ts';

/** Where delegations were concluded, by the id of the entry that started them. */
export type Conclusions = ReadonlyMap<string, EntryRow>;

/** Every conclusion of a trajectory from that seq on, as it stands there; nothing is verified. */
export async function conclusionsOf(store: LedgerStore, trajectoryId: string, from: number): Promise<Conclusions> {
  const found = new Map<string, EntryRow>();
  for await (const rows of pages(store, trajectoryId, { from, limit: Number.MAX_SAFE_INTEGER - from })) {
    for (const row of rows) {
      const concludes = delegationOf(row)?.concludes;
      if (concludes !== undefined) found.set(concludes, row);
    }
  }
  return found;
}

/** The payload of a delegation entry that can be read. */
export function delegationOf(row: EntryRow): DelegationPayload | undefined {
  if (row.kind !== 'delegation') return undefined;
  const payload = readable(row)?.payload;
  return payload?.kind === 'delegation' ? payload : undefined;
}

/** What a delegation entry is, and where its delegation stands. */
export interface DelegationStep {
  readonly step: 'start' | 'answer' | 'conclusion';
  readonly child: string;
  readonly task: string;
  /** The entry that started it: itself, for a start. */
  readonly started_by: string;
  /** The entry of the parent that concludes it; null while it is open. Absent where nobody has looked. */
  readonly concluded_by?: string | null;
}

/** Looked up in `conclusions`, for a start; an answer does not say whether its parent has taken it over. */
export function stepOf(row: EntryRow, payload: DelegationPayload, conclusions?: Conclusions): DelegationStep {
  const { child_trajectory_id: child, task, concludes } = payload;
  if (concludes === undefined) {
    const looked = conclusions && { concluded_by: conclusions.get(row.id)?.id ?? null };
    return { step: 'start', child, task, started_by: row.id, ...looked };
  }
  if (child === row.trajectory_id) return { step: 'answer', child, task, started_by: concludes };
  return { step: 'conclusion', child, task, started_by: concludes, concluded_by: row.id };
}
