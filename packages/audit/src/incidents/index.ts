/**
 * The response to an incident: planned from a blast radius, approved by a person, carried out once.
 *
 * Guarantees: a step is carried out only after the approval of the whole plan. Each outcome is
 * recorded once, in any number of processes and after any crash. A consequence that no step undoes
 * is listed.
 *
 * Never: revokes a writ of a principal that the start does not name; calls a tool.
 */
export { affectedSince } from './affected-since.ts';
export { type CarriedOut, type CarryOut, carryOut, incidentsToCarryOut } from './carry-out.ts';
export { IncidentError, type IncidentErrorCode } from './errors.ts';
export { type IncidentDocument, incidentDocument } from './incident-document.ts';
export { type IncidentTrajectory, openIncidentTrajectory } from './incident-trajectory.ts';
export {
  type OpenIncident,
  openIncident,
  type ProposedIncident,
  type WritFor,
} from './open-incident.ts';
export { type PlanOptions, planResponse, type ResponsePlan } from './plan-response.ts';
export type { HoldersIn } from './plan-revocations.ts';
