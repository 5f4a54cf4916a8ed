import type { z } from 'zod';
import {
  type Incident,
  type IncidentState,
  type openArgs,
  type RemainingItem,
  type ResponseStep,
  type recordArgs,
  TEXT_MAX,
} from './schema.ts';

interface Where {
  readonly role: { readonly incident: string };
  readonly at: string;
}

/** Opens an incident with its plan. The invariant `NEEDS_APPROVAL` needs a person to commit it. */
export function applyOpen(
  state: IncidentState,
  args: z.infer<typeof openArgs>,
  { role, at }: Where,
): void {
  if (state.incidents[role.incident] !== undefined)
    throw new Error(`the incident ${role.incident} exists already`);
  if (args.steps.length + args.remains.length === 0)
    throw new Error('the plan has no step, and nothing remains');
  state.incidents[role.incident] = { ...args, openedAt: at, outcomes: {} };
}

/** Records the outcome of a step, once. A failed step can be tried again until the end. */
export function applyRecord(
  state: IncidentState,
  { step, ...outcome }: z.infer<typeof recordArgs>,
  { role, at }: Where,
): void {
  const incident = openIncident(state, role.incident);
  if (step >= incident.steps.length)
    throw new Error(`the incident ${role.incident} has no step ${step}`);
  const before = incident.outcomes[step];
  if (before !== undefined && before.outcome !== 'failed')
    throw new Error(`the outcome of step ${step} is recorded already: ${before.outcome}`);
  incident.outcomes[step] = { ...outcome, at };
}

/** Closes an incident. Its failed steps remain. */
export function applyClose(state: IncidentState, { role, at }: Where): void {
  const incident = openIncident(state, role.incident);
  const missing = incident.steps.findIndex((_, i) => incident.outcomes[i] === undefined);
  if (missing >= 0) throw new Error(`step ${missing} has no outcome yet`);
  incident.steps.forEach((step, i) => {
    const { outcome, reason } = incident.outcomes[i] as Incident['outcomes'][string];
    if (outcome === 'failed') incident.remains.push(failedItem(step, reason as string));
  });
  incident.closedAt = at;
}

function openIncident({ incidents }: IncidentState, id: string): Incident {
  const incident = incidents[id];
  if (incident === undefined) throw new Error(`there is no approved incident ${id}`);
  if (incident.closedAt !== undefined) throw new Error(`the incident ${id} is closed`);
  return incident;
}

/** A failed step as an item that remains. */
export function failedItem(step: ResponseStep, reason: string): RemainingItem {
  return {
    what: shortened(stepText(step)),
    ...(step.kind === 'retract' && { entry: step.entry }),
    ...(step.kind === 'withdraw' && { entry: step.statements[0]!.entry }),
    why: shortened(`the step failed: ${reason}`),
    advice:
      'remove the cause, and propose a response again: it has only the steps that are still needed',
  };
}

function shortened(text: string): string {
  return text.slice(0, TEXT_MAX).toWellFormed();
}

/** A step as a phrase. */
export function stepText(step: ResponseStep): string {
  switch (step.kind) {
    case 'revoke':
      return `revoke the writ ${step.writ} in ${step.trajectory}`;
    case 'halt':
      return `halt ${step.trajectory}`;
    case 'retract':
      return `retract the fact ${step.subject} ${step.predicate} ${step.object} in ${placeOf(step)}`;
    case 'withdraw': {
      const { subject, predicate, object, displaced } = step;
      const what = `${object && `: ${object}`}${displaced && `; gives back ${displaced}`}`;
      return `withdraw the statements about ${subject} ${predicate} in ${placeOf(step)}${what}`;
    }
  }
}

function placeOf({
  space,
  branch,
}: {
  readonly space: string;
  readonly branch?: string | undefined;
}): string {
  return branch === undefined ? space : `${space} of the branch ${branch}`;
}
