import {
  ADMINS,
  hash,
  instant,
  name,
  type Operation,
  PAGE_DEFAULT,
  page,
  READERS,
} from '@assize/command/operation';
import { INCIDENTS } from 'assize/internal/config';
import { Trajectory } from 'assize/internal/runtime';
import { z } from 'zod';
import { blastDocument, blastRadius, DERIVATIONS } from '#blast';
import type { IncidentState } from '#incident-domain';
import { incidentDocument, openIncident, openIncidentTrajectory, planResponse } from '#incidents';
import { type AuditService, operation } from './service.ts';

/** Where an incident begins: exactly one name, and the period in which it counts. */
const startForm = {
  entry: hash.optional(),
  writ: hash.optional().describe('entries under this writ, or under a writ below it'),
  principal: name.optional().describe('entries under the writs that this principal holds'),
  approver: name.optional().describe('decisions of this principal'),
  tool: name.optional().describe('calls of this tool: `NAME`, or `SERVER/TOOL` behind the gateway'),
  definition: hash.optional().describe('calls of the gateway under this definition of their tool'),
  source: name.optional().describe('facts that name this source, such as a message'),
  facts: z.strictObject({ space: name, subject: name, predicate: name.optional() }).optional(),
  since: instant.optional(),
  until: instant.optional(),
};
const through = z
  .array(z.enum(DERIVATIONS))
  .optional()
  .describe('the derivations to follow. Default: all');

const affectedForm = z
  .strictObject({
    id: hash,
    trajectory_id: z.string(),
    seq: z.number().int(),
    kind: z.string(),
    at: z.string(),
    action: z.string().optional(),
    is_start: z.boolean().describe('whether the incident begins with this entry'),
    from: z.array(z.strictObject({ entry: hash, how: z.enum(DERIVATIONS) })),
  })
  .meta({
    id: 'AffectedEntry',
    description: 'An entry of an incident, and the entries that it derives from.',
  });

const factForm = z
  .strictObject({
    entry: hash,
    space: z.string(),
    branch: z.string().optional(),
    subject: z.string(),
    predicate: z.string(),
    object: z.string(),
    fact_id: z.string(),
  })
  .meta({
    id: 'AffectedFact',
    description: 'A fact that rests on an affected statement, or that an affected entry ended.',
  });

const blast = operation({
  id: 'incidents.blast',
  method: 'post',
  path: '/v1/blast',
  summary: 'All that derives from a bad credential, approver, tool, source, fact or entry.',
  kinds: ['auditor', 'admin'],
  body: z.strictObject({
    ...startForm,
    through,
    limit: z
      .number()
      .int()
      .min(1)
      .max(10_000)
      .optional()
      .describe('the most entries to list. Default: 1,000'),
  }),
  answer: z.strictObject({
    entries: z.array(affectedForm),
    facts: z.array(factForm).describe('believed, and resting on affected statements'),
    ended: z
      .array(factForm)
      .describe('of other entries, ended by affected ones, and not believed again'),
    calls: z.array(
      z.strictObject({
        entry: hash,
        trajectory_id: z.string(),
        id: z.string().describe('of the effect, or of the call of the gateway'),
        via: z
          .enum(['effect', 'gateway'])
          .describe('`gateway`: an agent called another server, and no step undoes it'),
        tool: z.string().optional(),
        reversibility: z.string().optional(),
        outcome: z.string(),
      }),
    ),
    pending: z.array(hash),
    affected: z.number().int().describe('the number of affected entries, listed or not'),
    total: z.number().int().describe('the number of entries in the store'),
    erased: z.number().int().describe('erased values, through which derivations may be missing'),
  }),
  errors: ['bad_argument', 'not_found'],
  run: async ({ body, service }) => {
    const { through, limit = 1_000, ...start } = body;
    const radius = await blastRadius(service.store, start as never, {
      ...(through !== undefined && { through }),
    });
    const { entries, ...rest } = blastDocument(radius);
    return {
      body: { entries: entries.slice(0, limit), ...rest, affected: entries.length } as never,
    };
  },
});

const stepForm = z
  .looseObject({
    kind: z.enum(['revoke', 'withdraw', 'retract', 'halt']),
    trajectory: z.string(),
    outcome: z
      .enum(['done', 'already', 'failed'])
      .optional()
      .describe('absent: not carried out yet'),
    reason: z.string().optional(),
    at: instant.optional(),
  })
  .meta({
    id: 'ResponseStep',
    description: 'A step of a response: a revocation, a withdrawal or a halt.',
  });

const remainingForm = z
  .strictObject({
    what: z.string(),
    entry: hash.optional(),
    why: z.string(),
    advice: z.string(),
  })
  .meta({ id: 'RemainingItem', description: 'A consequence that no step undoes.' });

const plan = { steps: z.array(stepForm), remains: z.array(remainingForm) };

const propose = operation({
  id: 'incidents.propose',
  method: 'post',
  path: '/v1/incidents',
  summary:
    'Propose the response to an incident. A person approves it, and the server carries it out.',
  kinds: ADMINS,
  needsKey: true,
  body: z
    .strictObject({
      ...startForm,
      through,
      because: z.string().min(1).max(2_000).describe('the reason, which the approver reads'),
      halts: z
        .enum(['affected', 'none'])
        .optional()
        .describe(
          'whether trajectories with affected work in progress are halted. Default: affected',
        ),
      dry_run: z.boolean().optional().describe('answer the plan, and propose nothing'),
    })
    .meta({ id: 'NewIncident' }),
  answer: z.strictObject({
    ...plan,
    incident: z.string().optional().describe('absent with `dry_run`'),
    trajectory_id: z.string().optional(),
    status: z
      .enum(['proposed', 'waiting', 'approved'])
      .optional()
      .describe(
        '`waiting`, `approved`: the open incident has the same plan, and nothing was proposed',
      ),
    approval: hash.optional().describe('the pending proposal; absent for an approved incident'),
  }),
  statuses: [200, 201],
  errors: [
    'bad_argument',
    'not_found',
    'too_large',
    'wrong_state',
    'incident_refused',
    'idempotency_conflict',
  ],
  run: async ({ body, caller, service, key }) => {
    const { through, because, halts, dry_run: isDry = false, ...start } = body;
    const { store, grants, assize, systemWrits, clock } = service;
    const radius = await blastRadius(store, start as never, {
      ...(through !== undefined && { through }),
    });
    const planned = await planResponse(store, radius, {
      ...(halts !== undefined && { halts }),
      holdersIn: (trajectoryId) => grants.holdersIn(trajectoryId),
    });
    const { steps, remains } = planned;
    if (isDry) return { body: { steps, remains } as never };
    const { incident, trajectoryId, status, pending } = await openIncident(assize, {
      ...{ plan: planned, because, openedBy: caller.name, idempotencyKey: key },
      writFor: async (action, _, trajectory) =>
        systemWrits.forAction(caller.name, action, trajectory, clock.now()),
    });
    const named = {
      incident,
      status,
      trajectory_id: trajectoryId,
      ...(pending !== undefined && { approval: pending }),
    };
    return {
      status: status === 'proposed' ? 201 : 200,
      body: { steps, remains, ...named } as never,
    };
  },
});

const list = operation({
  id: 'incidents.list',
  method: 'get',
  path: '/v1/incidents',
  summary: 'The approved incidents, newest first, with the outcome of each step.',
  kinds: READERS,
  query: z.strictObject({ limit: page.limit }),
  answer: z.strictObject({
    incidents: z.array(
      z.strictObject({
        id: z.string(),
        start: z.looseObject({}),
        because: z.string(),
        opened_by: z.string(),
        opened_at: instant,
        approved_by: z.string().optional(),
        closed_at: instant.optional(),
        ...plan,
      }),
    ),
  }),
  run: async ({ query: { limit = PAGE_DEFAULT }, service: { assize, store } }) => {
    if ((await store.head(INCIDENTS)) === undefined) return { body: { incidents: [] } };
    const trajectory = await openIncidentTrajectory(assize, INCIDENTS);
    await Trajectory.catchUp(trajectory as never);
    const { incidents } = trajectory.state() as unknown as IncidentState;
    const documents = Object.entries(incidents).map(([id, one]) => incidentDocument(id, one));
    const newest = documents.sort((a, b) => (a.opened_at < b.opened_at ? 1 : -1)).slice(0, limit);
    return { body: { incidents: newest as never } };
  },
});

export const incidents: readonly Operation<AuditService>[] = [blast, propose, list];
