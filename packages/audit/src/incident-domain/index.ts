/**
 * The response to an incident: a plan that a person approves, with the outcome of each step.
 *
 * Guarantees: each committed incident has the approval of a person other than its opener. Each step
 * has one outcome. Only the outcome of a failed step is replaced. A closed incident has all
 * outcomes, and lists the remaining consequences.
 *
 * Not promised: that a step was carried out. `carryOut` of the layer `incidents` does it, and
 * records the outcome.
 */

import { type Domain, defineDomain } from 'assize/internal/kernel';
import { z } from 'zod';
import { applyClose, applyOpen, applyRecord } from './actions.ts';
import { isResponder, RESPONDER, rules } from './rules.ts';
import { type IncidentState, incidentState, openArgs, recordArgs } from './schema.ts';

export { stepText } from './actions.ts';
export { isResponder } from './rules.ts';
export {
  type Incident,
  type IncidentState,
  incidentId,
  OBJECT_SHOWN_MAX,
  type RemainingItem,
  type ResponseStep,
  STEPS_MAX,
  type StepOutcome,
} from './schema.ts';

export const incident: Domain<IncidentState> = defineDomain({
  name: 'incident',
  version: '1',
  state: incidentState,
  initial: { incidents: {} },
  processes: {
    opening: { writes: ['/incidents/{incident}'] },
    carrying: { writes: ['/incidents/{incident}'] },
  },
  roles: {
    opener: { params: ['incident'], processes: ['opening'] },
    carrier: { params: ['incident'], processes: ['carrying'] },
  },
  actions: {
    open: {
      process: 'opening',
      description: 'Proposes the response to an incident. A person decides about the whole plan.',
      args: openArgs,
      present: {
        title: 'Respond to an incident: {because}',
        fields: {
          openedBy: { label: 'Opened by' },
          '/start/principal': { label: 'Acts of' },
          '/start/approver': { label: 'Approvals of' },
          '/start/writ': { label: 'Under the writ' },
          '/start/entry': { label: 'From the entry' },
          '/start/tool': { label: 'Calls of' },
          '/start/source': { label: 'Facts of' },
          steps: { label: 'Steps that undo' },
          remains: { label: 'Left for people' },
        },
        confirm:
          'The server revokes, withdraws and halts as the plan says, each step once. What remains is listed.',
      },
      apply: (state, args, context) => applyOpen(state, args, context),
    },
    record: {
      process: 'carrying',
      description: 'Records the outcome of one step of an approved incident.',
      args: recordArgs,
      apply: (state, args, context) => applyRecord(state, args, context),
    },
    close: {
      process: 'carrying',
      description: 'Closes an incident whose steps all have an outcome. Failed steps remain.',
      args: z.strictObject({}),
      apply: (state, _, context) => applyClose(state, context),
    },
  },
  invariants: rules,
  counselors: { [RESPONDER]: isResponder },
  // The decision about one incident does not block the others.
  freeze: 'footprint',
}) as unknown as Domain<IncidentState>;
