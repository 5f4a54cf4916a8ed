import {
  ANYBODY,
  type AuthorisedRequest,
  agentWrit,
  awaitDecision,
  callerTrajectory,
  documentForm,
  entryNamed,
  hash,
  INTERRUPTS,
  interruptForm,
  isOfKind,
  json,
  judgementDocument,
  judgementForm,
  name,
  type Operation,
  observationsForm,
  proposeOnce,
  READERS,
  roleForm,
  rulingForm,
  ServerError,
  type Wait,
  type Waiting,
  writForm,
} from '@assize/command/operation';
import type { WritChain } from 'assize/host';
import { isAssizeError } from 'assize/internal/base';
import { addMicros, type Instant } from 'assize/internal/canon';
import { type EntryRow, readRow } from 'assize/internal/ledger';
import type { ForeseenProposal, ProposalInput, Ruling, Trajectory } from 'assize/internal/runtime';
import { rulingView } from 'assize/internal/views';
import { z } from 'zod';
import { problemOf } from '../problems/problem.ts';
import { operation, type ServerService } from '../service.ts';

const proposalBody = z
  .strictObject({
    action: name,
    role: roleForm
      .optional()
      .describe('default: the only role that proposes the action, if it has no parameters'),
    args: json,
    observations: observationsForm.optional(),
    precondition: z
      .strictObject({ since: hash, paths: z.array(z.string()).min(1).max(1_000) })
      .optional(),
    writ: z
      .strictObject({ writ: writForm, chain: z.array(writForm).max(8) })
      .optional()
      .describe('A writ whose subject is the caller. Default: a short writ of the caller’s grant.'),
  })
  .meta({ id: 'Proposal' });

const create = operation({
  id: 'proposals.create',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/proposals',
  summary: 'Propose an action. With `Prefer: wait=N` the answer waits for a decision.',
  kinds: ['agent'],
  params: z.strictObject({ trajectory: name }),
  body: proposalBody,
  needsKey: true,
  isRouted: true,
  answer: rulingForm,
  statuses: [200, 202],
  accepted: { media: INTERRUPTS, answer: interruptForm },
  isWaiting: true,
  errors: ['idempotency_conflict', 'conflict', 'halted', 'too_many_pending'],
  run: async (request) => {
    const { path, body, service, key, waitSeconds } = request;
    const trajectory = await callerTrajectory(request, path.trajectory);
    const now = service.clock.now();
    const input = await inputOf(request, trajectory.id, body, key);
    const { writ } = input;
    await service.gateways.ready(trajectory);
    const proposed = await proposeOnce(request, trajectory, input);
    const until = addMicros(now, waitSeconds * 1_000_000);
    request.waits();
    const ruling =
      waitSeconds === 0
        ? proposed
        : await decided(request, trajectory, input, proposed, { until, writ });
    service.metrics.ruling(ruling.ruling);
    if (ruling.ruling !== 'escalated') return { body: rulingView(ruling) };
    const headers = { location: `/v1/approvals/${ruling.pending}` };
    if (!request.wantsInterrupts) return { status: 202, headers, body: rulingView(ruling) };
    const payload = readRow(ruling.entry).payload;
    const expires = payload.kind === 'pending_approval' ? payload.expires : undefined;
    const typed = { ...headers, 'content-type': INTERRUPTS };
    const page = `${request.origin}/inbox/${ruling.pending}`;
    return {
      status: 202,
      headers: typed,
      body: interruptDocument(ruling, { expires, page }) as never,
    };
  },
});

const MANY_MAX = 100;
/** All of them are ruled on in one turn of the process. */
const MANY_NAMES = 16_384;

const createMany = operation({
  id: 'proposals.create_many',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/proposals/many',
  summary:
    'Propose up to 100 actions together. Each is ruled on alone, in any order, and has its own key.',
  kinds: ['agent'],
  params: z.strictObject({ trajectory: name }),
  body: z
    .strictObject({
      proposals: z
        .array(
          proposalBody
            .omit({ writ: true })
            .extend({ key: name.describe('the idempotency key of the proposal') }),
        )
        .min(1)
        .max(MANY_MAX),
    })
    .meta({ id: 'ManyProposals' }),
  bodyBytes: 8 * 1_048_576,
  bodyNames: MANY_NAMES,
  isRouted: true,
  proposalsOf: ({ proposals }) => proposals,
  answer: z.strictObject({
    results: z
      .array(
        z.strictObject({
          key: name,
          ruling: rulingForm.optional(),
          problem: documentForm.optional(),
        }),
      )
      .describe('in the order of the proposals'),
  }),
  errors: ['halted'],
  run: async (request) => {
    const { path, body, service } = request;
    const trajectory = await callerTrajectory(request, path.trajectory);
    await service.gateways.ready(trajectory);
    const results = await Promise.allSettled(
      body.proposals.map(async ({ key, ...proposal }) => {
        const ruling = await proposeOnce(
          request,
          trajectory,
          await inputOf(request, trajectory.id, proposal, key),
        );
        service.metrics.ruling(ruling.ruling);
        return rulingView(ruling);
      }),
    );
    return {
      body: {
        results: results.map((result, i) => resultOf(service, body.proposals[i]!.key, result)),
      },
    };
  },
});

/** @throws an error of unknown origin. A repetition of the request finds the rulings by keys. */
function resultOf(
  { deployment }: ServerService,
  key: string,
  result: PromiseSettledResult<ReturnType<typeof rulingView>>,
) {
  if (result.status === 'fulfilled') return { key, ruling: result.value };
  if (!isAssizeError(result.reason)) throw result.reason;
  return { key, problem: { ...problemOf(deployment?.explained(result.reason) ?? result.reason) } };
}

async function inputOf(
  reaching: Pick<AuthorisedRequest, 'caller' | 'service'>,
  trajectoryId: string,
  { action, role, args, observations, precondition, writ }: z.output<typeof proposalBody>,
  key: string,
): Promise<ProposalInput & { readonly writ: WritChain }> {
  return {
    ...{ action, role, args, idempotencyKey: key },
    writ: await writOf(reaching, trajectoryId, action, writ),
    ...(observations !== undefined && { observations: observations as never }),
    ...(precondition !== undefined && { precondition }),
  };
}

/**
 * The writ of a proposal. A given writ must be the caller's own.
 *
 * @throws ServerError `forbidden`
 */
async function writOf(
  { caller, service }: Pick<AuthorisedRequest, 'caller' | 'service'>,
  trajectoryId: string,
  action: string,
  writ: z.output<typeof proposalBody>['writ'],
): Promise<WritChain> {
  if (writ === undefined) return agentWrit({ caller, service }, trajectoryId, action);
  if (writ.writ.subject !== caller.name || caller.writ !== undefined)
    throw new ServerError(
      'forbidden',
      `The writ is not for ${caller.name}. Pass a writ with this subject, or none.`,
    );
  const { writ: own, chain } = writ as unknown as WritChain;
  const ended = [own, ...chain].find((one) => service.grants.stops.isBeforeStop(one));
  if (ended === undefined) return { writ: own, chain };
  throw new ServerError(
    'forbidden',
    `The stop of ${ended.subject} ended this writ. Pass a later one, or none.`,
  );
}

/** Waits until a pending proposal is decided, and proposes again when a freeze ends. */
async function decided(
  request: Waiting,
  trajectory: Trajectory,
  input: ProposalInput,
  first: Ruling,
  wait: Omit<Wait, 'pending'>,
): Promise<Ruling> {
  let ruling = first;
  while (ruling.ruling === 'escalated' || ruling.ruling === 'frozen') {
    const pending = ruling.ruling === 'escalated' ? ruling.pending : ruling.by;
    try {
      const end = await awaitDecision(request, trajectory, { ...wait, pending });
      if (ruling.ruling === 'escalated') return end;
    } catch (error) {
      if (isAssizeError(error, 'still_pending')) return ruling;
      throw error;
    }
    ruling = await proposeOnce(request, trajectory, input);
  }
  return ruling;
}

const judge = operation({
  id: 'proposals.judge',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/judge',
  summary:
    'The ruling that a proposal would get, now or after an entry. Nothing is recorded, and no tool is called.',
  kinds: ANYBODY,
  params: z.strictObject({ trajectory: name }),
  body: z
    .strictObject({
      ...{
        action: name,
        role: proposalBody.shape.role,
        args: json,
        observations: proposalBody.shape.observations,
      },
      at: name
        .optional()
        .describe('the entry after which it is judged; default: now. Not for agents.'),
      principal: name
        .optional()
        .describe('the agent that would propose. Default: the caller, if it is an agent.'),
    })
    .meta({ id: 'ForeseenProposal' }),
  answer: judgementForm,
  errors: ['not_found', 'domain_mismatch'],
  run: async (request) => {
    const { path, body, caller } = request;
    const { action, role, args, observations } = body;
    const isReader = isOfKind(caller, READERS);
    const trajectory = await callerTrajectory(request, path.trajectory);
    const entry =
      body.at === undefined ? undefined : await entryOf(request, trajectory.id, body.at);
    const principal = isReader ? (body.principal ?? caller.name) : caller.name;
    const at = entry === undefined ? request.service.clock.now() : readRow(entry).payload.at;
    const writ = await writOfAgent(request, trajectory.id, { principal, action, at });
    const asked = { action, role, args, writ, ...(observations !== undefined && { observations }) };
    const judged = await trajectory.judge(asked as ForeseenProposal, entry?.id);
    return { body: judgementDocument(judged, isReader) };
  },
});

/** An entry of the trajectory. Only readers of the ledger may name one. @throws ServerError */
async function entryOf(
  reaching: AuthorisedRequest,
  trajectoryId: string,
  named: string,
): Promise<EntryRow> {
  const { name: caller } = reaching.caller;
  if (!isOfKind(reaching.caller, READERS))
    throw new ServerError(
      'forbidden',
      `${caller} may not judge after an earlier entry. Leave out \`at\`.`,
    );
  const entry = await entryNamed(reaching, named);
  if (entry.trajectory_id === trajectoryId) return entry;
  throw new ServerError('not_found', `The trajectory ${trajectoryId} has no entry ${named}.`);
}

/**
 * The writ of the agent that would propose, as of a time.
 *
 * @throws ServerError `forbidden`, `not_found`
 */
async function writOfAgent(
  { caller, service }: AuthorisedRequest,
  trajectoryId: string,
  {
    principal,
    action,
    at,
  }: { readonly principal: string; readonly action: string; readonly at: Instant },
): Promise<WritChain> {
  if (principal === caller.name && caller.kinds.includes('agent'))
    return agentWrit({ caller, service }, trajectoryId, action);
  const agent = service.config.principals.get(principal);
  const writ = agent && (await service.grants.forAgent(agent, trajectoryId, action, at));
  if (writ !== undefined) return writ;
  throw new ServerError(
    'not_found',
    `${principal} is not an agent with a grant in the trajectory ${trajectoryId}. Name one as \`principal\`.`,
  );
}

const get = operation({
  id: 'proposals.get',
  method: 'get',
  path: '/v1/trajectories/{trajectory}/proposals/{key}',
  summary: 'The ruling on the caller’s proposal with an idempotency key.',
  kinds: ['agent'],
  params: z.strictObject({ trajectory: name, key: name }),
  answer: rulingForm,
  errors: ['not_found'],
  run: async (request) => {
    const { path, caller } = request;
    const trajectory = await callerTrajectory(request, path.trajectory);
    const ruling = await trajectory.rulingOf(path.key, caller.name);
    if (ruling === undefined)
      throw new ServerError(
        'not_found',
        `${caller.name} has no proposal with the key ${path.key} there.`,
      );
    return { body: rulingView(ruling) };
  },
});

export const proposals: readonly Operation<ServerService>[] = [create, createMany, judge, get];

/** An escalation as the interrupt of AG-UI 1.0. The client resumes with a decision, or waits. */
function interruptDocument(
  ruling: Extract<Ruling, { readonly ruling: 'escalated' }>,
  { expires, page }: { readonly expires: string | undefined; readonly page: string },
): z.input<typeof interruptForm> {
  const { pending, reason, detail, channel, invariantId, entry } = ruling;
  return {
    outcome: {
      type: 'interrupt',
      interrupts: [
        {
          id: pending,
          reason: 'approval_required',
          message: detail,
          ...(expires !== undefined && { expiresAt: expires }),
          responseSchema: RESPONSE,
          metadata: {
            trajectory_id: entry.trajectory_id,
            channel,
            page,
            cause: reason,
            ...(invariantId !== undefined && { invariant_id: invariantId }),
          },
        },
      ],
    },
  };
}

/** The decision of a person: the body of `approvals.approve` or `approvals.reject`. */
const RESPONSE = {
  type: 'object',
  properties: {
    decision: { enum: ['approve', 'reject'] },
    reason: { type: 'string' },
    args: { type: 'object' },
  },
  required: ['decision'],
};
