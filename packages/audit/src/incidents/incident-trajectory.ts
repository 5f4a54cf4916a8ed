import { isAssizeError } from 'assize/internal/base';
import { canonicalize } from 'assize/internal/canon';
import { type LedgerStore, readRow } from 'assize/internal/ledger';
import type { Assize, Trajectory } from 'assize/internal/runtime';
import { incident } from '#incident-domain';
import { IncidentError } from './errors.ts';

export type IncidentTrajectory = Trajectory<typeof incident>;

/** Opens the trajectory of incidents. @throws IncidentError `wrong_state` */
export async function openIncidentTrajectory(
  assize: Assize,
  trajectoryId: string,
): Promise<IncidentTrajectory> {
  try {
    return await assize.open(trajectoryId, incident);
  } catch (error) {
    if (!isAssizeError(error, 'domain_mismatch')) throw error;
    throw new IncidentError(
      'wrong_state',
      `The trajectory ${trajectoryId} is not of the domain incident. Name another trajectory for incidents.`,
      { cause: error, evidence: { trajectory_id: trajectoryId } },
    );
  }
}

/** The same, created at its first use. Another process may create it at the same time. */
export async function ensureIncidentTrajectory(
  assize: Assize,
  trajectoryId: string,
): Promise<IncidentTrajectory> {
  const all = await assize.trajectories();
  if (!all.some(({ trajectory_id }) => trajectory_id === trajectoryId))
    try {
      return await assize.create(incident, { trajectoryId, note: 'responses to incidents' });
    } catch (error) {
      if (!isAssizeError(error, 'exists')) throw error;
    }
  return openIncidentTrajectory(assize, trajectoryId);
}

/**
 * An incident in the first state of a trajectory would have no approval in the ledger: a writer of
 * first states could name any approver.
 *
 * @throws IncidentError `wrong_state`
 */
export async function requireEmptyBeginning(
  store: Pick<LedgerStore, 'entries'>,
  trajectoryId: string,
): Promise<void> {
  const [first] = await store.entries(trajectoryId, { limit: 1 });
  if (first === undefined) return;
  const { payload } = readRow(first);
  if (payload.kind === 'root' && canonicalize(payload.initial_state) === EMPTY) return;
  throw new IncidentError(
    'wrong_state',
    `The trajectory ${trajectoryId} did not begin without incidents, so its approvals are not in the ledger. Name another trajectory for incidents.`,
    { evidence: { trajectory_id: trajectoryId } },
  );
}

const EMPTY = canonicalize({ incidents: {} });
