import type { Incident, ResponseStep, StepOutcome } from '#incident-domain';

/** An incident as commands and the server answer it. */
export interface IncidentDocument {
  readonly id: string;
  readonly start: Incident['start'];
  readonly because: string;
  readonly opened_by: string;
  readonly opened_at: string;
  readonly approved_by?: string;
  readonly closed_at?: string;
  /** Each with its outcome, once it is recorded. */
  readonly steps: readonly (ResponseStep & Partial<StepOutcome>)[];
  readonly remains: Incident['remains'];
}

export function incidentDocument(id: string, incident: Incident): IncidentDocument {
  const { start, because, openedBy, openedAt, approvedBy, closedAt, steps, outcomes, remains } =
    incident;
  return {
    ...{ id, start, because, opened_by: openedBy, opened_at: openedAt },
    ...(approvedBy !== undefined && { approved_by: approvedBy }),
    ...(closedAt !== undefined && { closed_at: closedAt }),
    steps: steps.map((step, i) => ({ ...step, ...outcomes[i] })),
    remains,
  };
}
