import {
  ADMINS,
  type Caller,
  documentForm,
  instant,
  json,
  name,
  type Operation,
  PAGE_DEFAULT,
  READERS,
  rulingForm,
  ServerError,
} from '@assize/command/operation';
import { addMicros } from 'assize/internal/canon';
import { AGENTS, type AgentsState, changeAgent } from 'assize/internal/config';
import { Trajectory } from 'assize/internal/runtime';
import { rulingView, summaryOf } from 'assize/internal/views';
import { z } from 'zod';
import { named, valuesOf } from '../activity/entry-facts.ts';
import { findFacts, type LoggedEntries, readFound, wholeLog } from '../activity/find-entries.ts';
import { problemOf } from '../problems/problem.ts';
import { operation, type ServerService } from '../service.ts';

const list = operation({
  id: 'agents.list',
  method: 'get',
  path: '/v1/agents',
  summary: 'The agents of the configuration, and all that acted lately or are stopped or paused.',
  kinds: READERS,
  answer: z.strictObject({
    agents: z.array(
      z
        .strictObject({
          name: z.string(),
          grants: z
            .array(json)
            .describe('as the configuration has them; empty for a name that it does not have'),
          is: z.enum(['active', 'paused', 'stopped']),
          since: instant.optional().describe('of an active agent: since it was brought back'),
          by: z.string().optional(),
          reason: z.string().optional(),
          last: z
            .strictObject({
              trajectory_id: z.string(),
              seq: z.number().int(),
              at: z.string(),
              ruling: z.string(),
              action: z.string(),
              title: z.string().optional(),
            })
            .optional()
            .describe('its newest proposal'),
          worlds: z.array(z.string()).describe('the trajectories of its newest 100 entries'),
          refused: z.number().int().describe('refusals of the last 24 hours, 100 at most'),
          incomplete: z.boolean().describe('the search ended early, and older entries may count'),
        })
        .meta({ id: 'Agent', description: 'An agent of the store, and whether it may act.' }),
    ),
  }),
  run: async ({ service }) => {
    const { agents: recorded } = await agentsState(service);
    const configured = [...service.config.principals.values()].filter(({ kinds }) =>
      kinds.includes('agent'),
    );
    const log = await wholeLog(service.store);
    const lately = await findFacts(log, service.activity, { names: [], limit: LATELY });
    const acted = lately.entries.flatMap(({ facts }) => valuesOf('by', facts.names));
    const names = new Set([
      ...configured.map((one) => one.name),
      ...Object.keys(recorded),
      ...acted.filter((name) => name.startsWith('agent:')),
    ]);
    const agents = [];
    for (const name of [...names].sort()) {
      const grants = configured.find((one) => one.name === name)?.grants ?? [];
      const { is = 'restored', at, by, reason } = recorded[name] ?? {};
      const stop = {
        is: is === 'restored' ? ('active' as const) : is,
        ...(at !== undefined && { since: at, by, reason }),
      };
      agents.push({
        name,
        grants: grants as never,
        ...stop,
        ...(await activityOf(service, log, name)),
      });
    }
    return { body: { agents: agents as never } };
  },
});

const DAY_MICROS = 24 * 3_600 * 1_000_000;

/** The newest entries whose agents are listed. */
const LATELY = 1_000;

/** Of entries with a proposal. */
const PROPOSED = ['committed', 'rejected', 'escalated'];

/** The newest proposal of an agent, its worlds, and the number of its refusals. */
async function activityOf(
  { activity, actions, clock }: ServerService,
  log: LoggedEntries,
  agent: string,
) {
  const by = named('by', agent);
  const all = await findFacts(log, activity, { names: [by], limit: PAGE_DEFAULT });
  const refused = await findFacts(log, activity, {
    names: [by, named('ruling', 'rejected')],
    since: addMicros(clock.now(), -DAY_MICROS),
    limit: PAGE_DEFAULT,
  });
  const newest = all.entries.find(({ facts: { names } }) =>
    PROPOSED.some((ruling) => names.includes(named('ruling', ruling))),
  );
  const row = newest && (await readFound(log, newest)).row;
  const { trajectory_id = '' } = row ?? {};
  const { seq, at, ruling, action, title } =
    (row && summaryOf(row, { actions: await actions.of(trajectory_id) })) ?? {};
  return {
    ...(row && { last: { trajectory_id, seq, at, ruling, action, title } }),
    worlds: [...new Set(all.entries.flatMap(({ facts }) => valuesOf('in', facts.names)))],
    refused: refused.entries.length,
    incomplete: [all, refused].some(
      ({ entries, next }) => next !== undefined && entries.length < PAGE_DEFAULT,
    ),
  };
}

async function agentsState({ assize, store }: ServerService): Promise<AgentsState> {
  if ((await store.head(AGENTS)) === undefined) return { agents: {} };
  const trajectory = await assize.open(AGENTS);
  await Trajectory.catchUp(trajectory);
  return trajectory.state() as unknown as AgentsState;
}

const SUMMARIES = {
  stop: 'Stop an agent for good: its grants, writs, tokens and delegations in every trajectory.',
  pause: 'Hold all work of an agent, and what it passed on. Nothing is revoked.',
  resume: 'End a pause; or ask another person to approve that a stopped agent comes back.',
} as const;

const change = (does: keyof typeof SUMMARIES) =>
  operation({
    id: `agents.${does}`,
    method: 'post',
    path: `/v1/agents/{agent}/${does}`,
    summary: SUMMARIES[does],
    kinds: ADMINS,
    params: z.strictObject({ agent: name }),
    body: z
      .strictObject({ reason: z.string().min(1).max(4_096) })
      .meta({ id: `Agent${does[0]!.toUpperCase()}${does.slice(1)}` }),
    answer: z.strictObject({
      ruling: rulingForm.describe(
        '`escalated`: a stopped agent comes back when another person approves',
      ),
      tokens: z.number().int().describe('revoked tokens'),
      failed: z
        .array(documentForm)
        .describe('trajectories where a revocation waits for the next start'),
    }),
    errors: ['not_found'],
    run: async ({ path: { agent }, body, caller, service }) => {
      await requireAgent(service, caller, agent);
      const { grants, store, assize, clock } = service;
      const failed: { [member: string]: unknown }[] = [];
      const onFailure = (error: unknown): void => void failed.push({ ...problemOf(error) });
      const ruling = await changeAgent(
        grants,
        { does, agent, by: caller.name, tokenBy: caller.tokenBy, reason: body.reason },
        { store, assize, now: clock.now(), onFailure },
      );
      const tokens = does === 'stop' ? await service.tokens.revokeOf(agent) : 0;
      return { body: { ruling: rulingView(ruling), tokens, failed: failed as never } };
    },
  });

/** @throws ServerError `forbidden`, `not_found` */
async function requireAgent(service: ServerService, caller: Caller, agent: string): Promise<void> {
  const { deployment, config } = service;
  if (deployment !== undefined) {
    const command = deployment.stopCommand(agent);
    throw new ServerError('forbidden', `An agent of cells is stopped in all of them: ${command}.`);
  }
  const kinds = config.principals.get(agent)?.kinds;
  if (kinds === undefined && !(await isKnown(service, agent)))
    throw new ServerError(
      'not_found',
      `No agent ${agent} has a grant or a token. List the agents with GET /v1/agents.`,
    );
  if (caller.name !== agent && (kinds ?? []).every((kind) => kind === 'agent')) return;
  throw new ServerError(
    'forbidden',
    `${agent} is not only an agent. Change its kinds in the configuration.`,
  );
}

/** Whether a name that the configuration lacks has acted, has a token, or was stopped. */
async function isKnown(service: ServerService, agent: string): Promise<boolean> {
  const { agents } = await agentsState(service);
  if (Object.hasOwn(agents, agent) || (await service.grants.placesOf(agent)).length > 0)
    return true;
  const by = { names: [named('by', agent)], limit: 1 };
  const acts = await findFacts(await wholeLog(service.store), service.activity, by);
  if (acts.entries.length > 0) return true;
  for await (const { principal } of service.tokens.list()) if (principal === agent) return true;
  return false;
}

export const agents: readonly Operation<ServerService>[] = [
  list,
  change('stop'),
  change('pause'),
  change('resume'),
];
