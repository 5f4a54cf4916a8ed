import {
  ADMINS,
  flag,
  hash,
  instant,
  name,
  next,
  type Operation,
  PAGE_DEFAULT,
  page,
} from '@assize/command/operation';
import { RuntimeError } from 'assize/internal/runtime';
import { z } from 'zod';
import { type DurableRun, RunRecords } from '#agents';
import { type AgentsService, operation } from './service.ts';

const label = z
  .string()
  .regex(/^[^\p{Cc}]{1,128}$/u, 'must have 1 to 128 characters, without control characters')
  .meta({ id: 'RunName' });

const runForm = z
  .strictObject({
    trajectory_id: z.string(),
    agents: z.string(),
    tenant: z.string(),
    status: z.enum(['ready', 'waiting', 'done', 'failed', 'cancelled']),
    created: instant,
    updated: instant,
    turns: z.number().int(),
    turns_max: z.number().int(),
    failures: z.number().int(),
    versions: z.array(
      z.strictObject({ turn: z.number().int(), agents: z.string(), domain: z.string() }),
    ),
    wake_at: instant.optional(),
    pending: z
      .array(hash)
      .optional()
      .describe('the first pending proposals that the run waits for'),
    cancelled: z.literal(true).optional().describe('the run ends at its next step'),
    error: z
      .strictObject({ code: z.string(), name: z.string(), message: z.string().optional() })
      .optional(),
    held_until: instant
      .optional()
      .describe('the end of the lease of the worker that advances the run'),
  })
  .meta({ id: 'DurableRun', description: 'The record of a durable run of agents.' });

const list = operation({
  id: 'runs.list',
  method: 'get',
  path: '/v1/runs',
  summary: 'Durable runs of agents, by trajectory: those that have not ended, or those that have.',
  kinds: ['auditor', 'admin'],
  query: z.strictObject({ ...page, ended: flag.optional() }),
  answer: z.strictObject({ runs: z.array(runForm), next }),
  run: async ({ query, service }) => {
    const { cursor, limit = PAGE_DEFAULT, ended = false } = query;
    const runs: z.input<typeof runForm>[] = [];
    for await (const run of recordsOf(service).list({
      ended,
      ...(cursor !== undefined && { after: cursor }),
    })) {
      if (runs.length === limit) return { body: { runs, next: runs.at(-1)!.trajectory_id } };
      runs.push(documentOf(run));
    }
    return { body: { runs } };
  },
});

const get = operation({
  id: 'runs.get',
  method: 'get',
  path: '/v1/runs/{trajectory}',
  summary: 'The record of a durable run.',
  kinds: ['auditor', 'admin'],
  params: z.strictObject({ trajectory: name }),
  answer: runForm,
  errors: ['not_found'],
  run: async ({ path, service }) => ({
    body: documentOf(await recordsOf(service).get(path.trajectory)),
  }),
});

const begin = operation({
  id: 'runs.begin',
  method: 'post',
  path: '/v1/runs',
  summary:
    'Begin a durable run of a trajectory, for a worker that has the agents. A repetition changes nothing.',
  kinds: ADMINS,
  body: z
    .strictObject({
      trajectory_id: name,
      agents: label.describe('the name of the agents at the workers'),
      tenant: label.optional().describe('default: `default`'),
      turns_max: z.number().int().min(1).max(1_000_000).optional().describe('default: 1,000'),
    })
    .meta({ id: 'RunTerms' }),
  answer: runForm,
  errors: ['not_found', 'wrong_state'],
  run: async ({ body, service }) => {
    const { trajectory_id: trajectoryId, agents, tenant, turns_max: turnsMax } = body;
    if ((await service.store.head(trajectoryId)) === undefined)
      throw new RuntimeError(
        'not_found',
        `The store has no trajectory ${trajectoryId}. Create the trajectory first.`,
      );
    const terms = { trajectoryId, agents, ...(tenant !== undefined && { tenant }) };
    const run = await recordsOf(service).begin({
      ...terms,
      ...(turnsMax !== undefined && { turnsMax }),
    });
    return { body: documentOf(run) };
  },
});

const cancel = operation({
  id: 'runs.cancel',
  method: 'post',
  path: '/v1/runs/{trajectory}/cancel',
  summary: 'End a run at its next step. Committed entries, calls and pending proposals stay.',
  kinds: ADMINS,
  params: z.strictObject({ trajectory: name }),
  answer: runForm,
  errors: ['not_found', 'wrong_state'],
  run: async ({ path, service }) => ({
    body: documentOf(await recordsOf(service).cancel(path.trajectory)),
  }),
});

const retry = operation({
  id: 'runs.retry',
  method: 'post',
  path: '/v1/runs/{trajectory}/retry',
  summary: 'Make a failed run ready again.',
  kinds: ADMINS,
  params: z.strictObject({ trajectory: name }),
  answer: runForm,
  errors: ['not_found', 'wrong_state'],
  run: async ({ path, service }) => ({
    body: documentOf(await recordsOf(service).retry(path.trajectory)),
  }),
});

function recordsOf({ store, clock }: AgentsService): RunRecords {
  return new RunRecords(store, clock);
}

function documentOf({ trajectoryId, turnsMax, wakeAt, lease, head: _head, ...run }: DurableRun) {
  return {
    ...run,
    trajectory_id: trajectoryId,
    turns_max: turnsMax,
    versions: [...run.versions],
    pending: run.pending && [...run.pending],
    ...(wakeAt !== undefined && { wake_at: wakeAt }),
    ...(lease !== undefined && { held_until: lease.until }),
  };
}

export const runs: readonly Operation<AgentsService>[] = [list, get, begin, cancel, retry];
