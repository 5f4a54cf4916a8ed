import { z } from 'zod';
import { blastRadius, DERIVATIONS } from '#runtime';
import { blastDocument } from '#views';
import { hash, instant, name } from './forms.ts';
import { type Operation, operation } from './operation.ts';

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
  .meta({ id: 'AffectedEntry', description: 'An entry of an incident, and the entries that it derives from.' });

const blast = operation({
  id: 'incidents.blast',
  method: 'post',
  path: '/v1/blast',
  summary: 'All that derives from a bad credential, approver, tool, source, fact or entry.',
  kinds: ['auditor', 'admin'],
  body: z.strictObject({
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
    through: z.array(z.enum(DERIVATIONS)).optional().describe('the derivations to follow. Default: all'),
    limit: z.number().int().min(1).max(10_000).optional().describe('the most entries to list. Default: 1,000'),
  }),
  answer: z.strictObject({
    entries: z.array(affectedForm),
    facts: z.array(
      z.strictObject({
        entry: hash,
        space: z.string(),
        branch: z.string().optional(),
        subject: z.string(),
        predicate: z.string(),
        object: z.string(),
        fact_id: z.string(),
      }),
    ),
    calls: z.array(
      z.strictObject({
        entry: hash,
        trajectory_id: z.string(),
        id: hash,
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
  errors: ['bad_option', 'not_found'],
  run: async ({ body, service }) => {
    const { through, limit = 1_000, ...start } = body;
    const radius = await blastRadius(service.store, start as never, {
      by: 'index',
      ...(through !== undefined && { through }),
    });
    const { entries, ...rest } = blastDocument(radius);
    return { body: { entries: entries.slice(0, limit), ...rest, affected: entries.length } as never };
  },
});

export const incidents: readonly Operation[] = [blast];
