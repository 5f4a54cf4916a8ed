import { type Hash, type LedgerStore, type PendingPayload, readRow } from 'assize/internal/ledger';
import { Trajectory } from 'assize/internal/runtime';
import type { Incident } from '#incident-domain';
import type { IncidentTrajectory } from './incident-trajectory.ts';

/** Whether an incident waits for its approval, is to be carried out, or is closed. */
export type IncidentStatus =
  | { readonly is: 'waiting'; readonly approval: Hash }
  | { readonly is: 'approved' | 'closed'; readonly incident: Incident };

/** The status of an incident with the entries of other processes. Undefined: there is none. */
export async function statusOf(
  trajectory: IncidentTrajectory,
  id: string,
): Promise<IncidentStatus | undefined> {
  await Trajectory.catchUp(trajectory);
  const { incidents } = trajectory.state() as unknown as {
    readonly incidents: Record<string, Incident>;
  };
  const incident = Object.hasOwn(incidents, id) ? incidents[id] : undefined;
  if (incident?.approvedBy !== undefined)
    return { is: incident.closedAt === undefined ? 'approved' : 'closed', incident };
  const waiting = trajectory.approvals.pending().find(({ payload }) => openedIn(payload) === id);
  return waiting && { is: 'waiting', approval: waiting.id };
}

/** The id of the incident that a pending proposal opens. */
export function openedIn({ proposal }: Pick<PendingPayload, 'proposal'>): string | undefined {
  const { name, role } = proposal.action;
  return name === 'open' ? role.params['incident'] : undefined;
}

const PAGE = 500;

/** Whether the plan of an incident was ever proposed. */
export async function wasProposed(
  store: Pick<LedgerStore, 'entries'>,
  trajectoryId: string,
  id: string,
): Promise<boolean> {
  for (let from = 0; ; from += PAGE) {
    const rows = await store.entries(trajectoryId, { from, limit: PAGE });
    for (const row of rows)
      if (
        row.kind === 'pending_approval' &&
        openedIn(readRow(row).payload as PendingPayload) === id
      )
        return true;
    if (rows.length < PAGE) return false;
  }
}
