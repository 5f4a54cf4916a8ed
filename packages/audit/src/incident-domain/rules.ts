import { canonicalize } from 'assize/internal/canon';
import { escalate, type Invariant, pass, type Rules, reject } from 'assize/internal/kernel';
import type { Incident, IncidentState } from './schema.ts';

/** The kind of counselor that approves a response. */
export const RESPONDER = 'responder';

/** The default of the gateway too: a person, a manager or an operator. */
export function isResponder(principal: string): boolean {
  return typeof principal === 'string' && /^(?:human|manager|operator):./.test(principal);
}

/** The life of an incident. The approval comes last, so no person gets an invalid plan. */
export function rules({ each }: Rules<IncidentState>): readonly Invariant<IncidentState>[] {
  return [
    each('EACH_STEP_ONCE', '/incidents/*', { final: true }, ({ steps }) => {
      const texts = steps.map((step) => canonicalize(step));
      const twice = texts.findIndex((text, i) => texts.indexOf(text) !== i);
      return twice < 0 ? pass : reject(`step ${twice} is in the plan twice`);
    }),
    each('OUTCOMES_OF_STEPS', '/incidents/*', { final: true }, ({ steps, outcomes }) => {
      const stray = Object.keys(outcomes).find(
        (key) => !/^(?:0|[1-9]\d*)$/.test(key) || Number(key) >= steps.length,
      );
      return stray === undefined ? pass : reject(`the plan has no step ${stray}`);
    }),
    each('CLOSED_IS_COMPLETE', '/incidents/*', { final: true }, (incident) =>
      incident.closedAt === undefined || isComplete(incident)
        ? pass
        : reject('a closed incident lacks an outcome'),
    ),
    each(
      'UNAPPROVED_IS_UNTOUCHED',
      '/incidents/*',
      { final: true },
      ({ approvedBy, outcomes, closedAt }) =>
        approvedBy !== undefined || (Object.keys(outcomes).length === 0 && closedAt === undefined)
          ? pass
          : reject('a step was carried out before the approval'),
    ),
    each(
      'NEEDS_APPROVAL',
      '/incidents/*',
      {
        channel: RESPONDER,
        final: true,
        onApprove: ({ incidents }, { counselor, keys: [id = ''] }) => {
          const incident = incidents[id];
          if (incident !== undefined) incident.approvedBy ??= counselor;
        },
      },
      ({ approvedBy, because, steps, remains }) =>
        approvedBy !== undefined
          ? pass
          : escalate(`${because} (steps: ${steps.length}, remaining items: ${remains.length})`),
    ),
  ];
}

function isComplete({ steps, outcomes }: Incident): boolean {
  return steps.every((_, i) => outcomes[i] !== undefined);
}
