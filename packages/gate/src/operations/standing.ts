import {
  type AuthorisedRequest,
  agentWrit,
  badCursor,
  flag,
  hash,
  instant,
  json,
  judgementDocument,
  judgementForm,
  name,
  next,
  type Operation,
  PAGE_DEFAULT,
  page,
  proposeOnce,
  READERS,
  rulingForm,
  ServerError,
} from '@assize/command/operation';
import type { Json } from 'assize/internal/base';
import { contentHash } from 'assize/internal/canon';
import { type Hash, isEffectPending, type PendingPayload, Replayer } from 'assize/internal/ledger';
import { type ForeseenProposal, type ProposalInput, Trajectory } from 'assize/internal/runtime';
import { rulingView } from 'assize/internal/views';
import { z } from 'zod';
import {
  SHOWN_CALLS_MAX,
  StandingReader,
  type StandingRecord,
  standingStatus,
  standingView,
} from '#calls';
import {
  type CallArgs,
  callArgs,
  coveredCalls,
  type GatewayState,
  standingMaximum,
} from '#gateway';
import { gatewayTrajectory } from './caller-world.ts';
import { type GateService, operation } from './service.ts';
import { settled } from './settler.ts';

const amountsForm = z.record(z.string(), z.number().int());

const termsForm = z
  .strictObject({
    agent: name.describe('the agent whose calls it covers, without `agent:`'),
    tools: z.array(name).min(1).max(100).describe('`server/tool`, `server/*` or `server/get_*`'),
    uses: z.number().int().min(1),
    amounts: amountsForm.describe('the most that all uses together may spend, by unit'),
    expires: name.describe('an instant such as `2026-03-01T18:00:00Z`'),
    because: z.string().min(1).max(2_000),
  })
  .meta({ id: 'StandingTerms' });

const useForm = z
  .strictObject({
    call: z.string(),
    at: instant,
    tool: z.string().optional(),
    args: json.optional(),
    amounts: amountsForm,
    outcome: z
      .enum(['done', 'failed', 'unknown'])
      .optional()
      .describe('absent: not reported, or in progress'),
    closed_at: instant.optional(),
    entry_id: hash.optional(),
    closed_by: hash.optional().describe('the entry of the outcome'),
  })
  .meta({
    id: 'StandingUse',
    description: 'A call that a standing approval let through. Erased calls have no arguments.',
  });

const standingForm = z
  .strictObject({
    id: z.string(),
    status: z
      .enum(['active', 'used_up', 'expired', 'ended'])
      .describe('`used_up`: all uses are used; `expired`: by time; `ended`: by a person'),
    terms: termsForm.nullable().describe('null after an erasure'),
    used: z.number().int(),
    spent: amountsForm,
    asked_by: z.string().optional(),
    approved_by: z.string(),
    approved_at: instant,
    approval_reason: z.string().optional(),
    entry_id: hash.optional().describe('of the approval; absent for one of the source of a branch'),
    ended: z.strictObject({ at: instant, by: z.string().optional(), entry_id: hash }).optional(),
    calls: z.array(useForm).describe(`the newest ${SHOWN_CALLS_MAX}, the oldest of them first`),
  })
  .meta({
    id: 'StandingApproval',
    description: 'Calls of one agent that need no person, up to a number, a budget and a time.',
  });

const list = operation({
  id: 'standing.list',
  method: 'get',
  path: '/v1/trajectories/{trajectory}/standing',
  summary:
    'Standing approvals with the calls that each let through, newest first, also ended ones.',
  kinds: READERS,
  params: z.strictObject({ trajectory: name }),
  query: z.strictObject({
    agent: name.optional(),
    active: flag.optional().describe('only those that can still let calls through'),
    ...page,
  }),
  answer: z.strictObject({
    standing: z.array(standingForm),
    most: z
      .strictObject({ uses: z.number().int(), hours: z.number(), amounts: amountsForm })
      .describe('the most that a standing approval may ask for, by the rules in force'),
    next,
  }),
  run: async (request) => {
    const { path, query, service } = request;
    const { agent, active = false, cursor, limit = PAGE_DEFAULT } = query;
    const trajectory = await gatewayTrajectory(request, path.trajectory);
    const now = service.clock.now();
    const newestFirst = [...(await readerOf(request, trajectory).read())].reverse();
    // The cursor is found first, because the filter may drop its record.
    const left = newestFirst.slice(startOf(newestFirst, cursor));
    const wanted = left.filter(
      (one) =>
        (agent === undefined || one.terms?.agent === agent) &&
        (!active || standingStatus(one, now) === 'active'),
    );
    const shown = wanted.slice(0, limit);
    const last = shown.at(-1);
    const most = Trajectory.readState(trajectory, (state) =>
      standingMaximum(state as unknown as GatewayState),
    );
    const body = {
      standing: shown.map((one) => documentOf(trajectory, one, now)),
      most: { ...most, amounts: { ...most.amounts } },
      ...(last !== undefined && wanted.length > limit && { next: cursorOf(last) }),
    };
    return { body };
  },
});

/** The index of the first record after a cursor. @throws ServerError `invalid_request` */
function startOf(records: readonly StandingRecord[], cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const index = records.findIndex((record) => cursorOf(record) === cursor);
  if (index < 0) throw badCursor();
  return index + 1;
}

/** The cursor behind a standing approval: ids can come again. */
function cursorOf({ id, approvedAt }: StandingRecord): string {
  return `${approvedAt} ${id}`;
}

/** Copies, because the forms of answers are writable. */
function documentOf(
  trajectory: Trajectory,
  record: StandingRecord,
  now: string,
): z.input<typeof standingForm> {
  const view = standingView(
    record,
    now,
    (writ) => Trajectory.writOf(trajectory, writ)?.writ.subject,
  );
  return structuredClone(view) as z.input<typeof standingForm>;
}

const readers: WeakMap<Trajectory, StandingReader> = new WeakMap();

/** The reader of a trajectory. It continues where its last reading ended. */
function readerOf(
  { service }: Pick<AuthorisedRequest, 'service'>,
  trajectory: Trajectory,
): StandingReader {
  const known = readers.get(trajectory) ?? new StandingReader(service.store, trajectory.id);
  readers.set(trajectory, known);
  return known;
}

const waitingForm = z
  .strictObject({
    approval: hash,
    covered: z.boolean().describe('whether the same call would need no person after the approval'),
    amounts: amountsForm,
  })
  .meta({
    id: 'LikeCall',
    description: 'A call of the agent that waits. It waits on after the approval.',
  });

const judge = operation({
  id: 'standing.judge',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/standing/judge',
  summary:
    'What the request for a standing approval would get, and which waiting calls are like it. Nothing is recorded.',
  kinds: ['counselor', 'admin'],
  params: z.strictObject({ trajectory: name }),
  body: termsForm,
  answer: z.strictObject({ judgement: judgementForm, waiting: z.array(waitingForm) }),
  run: async (request) => {
    const { path, body } = request;
    const trajectory = await gatewayTrajectory(request, path.trajectory);
    const judged = await trajectory.judge(
      inputOf(request, trajectory, body, 'judged') as ForeseenProposal,
    );
    const isPossible = judged.ruling === 'escalated' || judged.ruling === 'committed';
    const waiting = isPossible ? await waitingLike(request, trajectory, body) : [];
    return { body: { judgement: judgementDocument(judged), waiting } };
  },
});

/** The calls of the agent that wait, oldest first, each with whether it would be covered. */
async function waitingLike(
  { service }: AuthorisedRequest,
  trajectory: Trajectory,
  terms: z.output<typeof termsForm>,
): Promise<z.input<typeof waitingForm>[]> {
  const { values } = new Replayer(service.store);
  const found: { readonly id: Hash; readonly args: CallArgs }[] = [];
  for (const { id, payload } of trajectory.approvals.pending()) {
    if (!isCallOf(payload, terms.agent)) continue;
    const read = await values.read(payload, payload.proposal.action.args);
    const args = callArgs.safeParse('value' in read ? read.value : undefined);
    if (args.success) found.push({ id, args: args.data });
  }
  const foreseen = Trajectory.readState(trajectory, (state) =>
    coveredCalls(
      state as unknown as GatewayState,
      terms,
      found.map(({ args }) => args),
      service.clock.now(),
    ),
  );
  return found.map(({ id }, n) => {
    const { covered, amounts } = foreseen[n]!;
    return { approval: id, covered, amounts: { ...amounts } };
  });
}

function isCallOf(payload: PendingPayload, agent: string): boolean {
  if (isEffectPending(payload)) return false;
  const { name, role } = payload.proposal.action;
  return name === 'call' && role.params['agent'] === agent;
}

const ask = operation({
  id: 'standing.ask',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/standing',
  summary:
    'Ask for a standing approval of an agent’s calls, as the caller; an agent for itself. Another person approves it.',
  kinds: ['agent', 'counselor', 'admin'],
  params: z.strictObject({ trajectory: name }),
  body: termsForm,
  needsKey: true,
  answer: rulingForm,
  statuses: [200, 202],
  errors: ['idempotency_conflict', 'conflict', 'halted', 'too_many_pending'],
  run: async (request) => {
    const { path, body, caller, key, service } = request;
    const trajectory = await gatewayTrajectory(request, path.trajectory);
    await service.gateways.ready(trajectory);
    // The same request names the same standing approval.
    const id = contentHash({ trajectory: trajectory.id, caller: caller.name, key }).slice(0, 12);
    const input = { ...(await askingOf(request, trajectory, body, id)), idempotencyKey: key };
    const ruling = await proposeOnce(request, trajectory, input);
    service.metrics.ruling(ruling.ruling);
    if (ruling.ruling !== 'escalated') return { body: rulingView(ruling) };
    return {
      status: 202,
      headers: { location: `/v1/approvals/${ruling.pending}` },
      body: rulingView(ruling),
    };
  },
});

/**
 * The proposal of a standing approval by its caller: a person, for any agent; or an agent, for
 * itself and under its own grant.
 *
 * @throws ServerError `forbidden` for another agent
 */
async function askingOf(
  request: AuthorisedRequest,
  trajectory: Trajectory,
  terms: z.output<typeof termsForm>,
  id: string,
): Promise<ProposalInput> {
  const { caller } = request;
  const proposal = inputOf(request, trajectory, terms, id);
  if (caller.kinds.some((kind) => kind === 'counselor' || kind === 'admin')) return proposal;
  const own = caller.name.replace(/^agent:/, '');
  if (terms.agent !== own)
    throw new ServerError(
      'forbidden',
      `${caller.name} can ask for a standing approval of its own calls only: ${own}.`,
    );
  const writ = await agentWrit(request, trajectory.id, 'stand');
  return { ...proposal, role: { name: 'agent', params: { agent: own } }, writ };
}

/** The proposal of a standing approval, under a short writ for it in the name of the caller. */
function inputOf(
  { caller, service }: AuthorisedRequest,
  trajectory: Trajectory,
  terms: z.output<typeof termsForm>,
  id: string,
): ProposalInput {
  const writ = service.systemWrits.forAction(
    caller.name,
    'stand',
    trajectory.id,
    service.clock.now(),
  );
  return { action: 'stand', role: 'admin', args: { id, ...terms } as Json, writ };
}

const end = operation({
  id: 'standing.end',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/standing/{standing}/end',
  summary:
    'End a standing approval immediately. Calls that it let through stay. A repetition answers with the first end.',
  kinds: ['counselor', 'admin'],
  params: z.strictObject({ trajectory: name, standing: name }),
  answer: rulingForm,
  errors: ['halted', 'unauthorised_counselor'],
  run: async (request) => {
    const { path } = request;
    const trajectory = await gatewayTrajectory(request, path.trajectory);
    const isThere = Trajectory.readState(trajectory, (state) =>
      Object.hasOwn((state as unknown as GatewayState).standing, path.standing),
    );
    if (!isThere) return { body: await endBefore(request, trajectory, path.standing) };
    const args = { id: path.standing };
    return { body: await settled(request, trajectory, { action: 'end_standing', args }) };
  },
});

/**
 * The end that the ledger has, for a repeated request. Nothing is recorded.
 *
 * @throws ServerError `not_found` for a standing approval that was not ended by a person
 */
async function endBefore(
  request: AuthorisedRequest,
  trajectory: Trajectory,
  id: string,
): Promise<z.input<typeof rulingForm>> {
  const records = await readerOf(request, trajectory).read();
  const ended = records.findLast((one) => one.id === id)?.ended;
  const entry = ended && (await request.service.store.resolve(ended.entryId));
  if (entry === undefined)
    throw new ServerError(
      'not_found',
      `${trajectory.id} has no standing approval ${id} that can be ended. List them with GET /v1/trajectories/${trajectory.id}/standing.`,
      { evidence: { standing: id } },
    );
  return { ruling: 'committed', trajectory_id: trajectory.id, seq: entry.seq, entry_id: entry.id };
}

export const standing: readonly Operation<GateService>[] = [list, judge, ask, end];
