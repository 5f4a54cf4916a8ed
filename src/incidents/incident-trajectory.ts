import { isAssizeError } from '#base';
import { incident } from '#domains/incident';
import type { Assize, Trajectory } from '#runtime';
import { IncidentError } from './errors.ts';

export type IncidentTrajectory = Trajectory<typeof incident>;

/** Opens the trajectory of incidents. @throws IncidentError `no_incident_trajectory` */
export async function openIncidents(assize: Assize, trajectoryId: string): Promise<IncidentTrajectory> {
  try {
    return await assize.open(trajectoryId, incident);
  } catch (error) {
    if (!isAssizeError(error, 'domain_mismatch')) throw error;
    throw new IncidentError(
      'no_incident_trajectory',
      `The trajectory ${trajectoryId} is not of the domain incident. Name another trajectory for incidents.`,
      { cause: error, evidence: { trajectory_id: trajectoryId } },
    );
  }
}

/** The same, created at its first use. Another process may create it at the same time. */
export async function ensureIncidents(assize: Assize, trajectoryId: string): Promise<IncidentTrajectory> {
  const all = await assize.trajectories();
  if (!all.some(({ trajectory_id }) => trajectory_id === trajectoryId))
    try {
      return await assize.create(incident, { trajectoryId, note: 'responses to incidents' });
    } catch (error) {
      if (!isAssizeError(error, 'exists')) throw error;
    }
  return openIncidents(assize, trajectoryId);
}
