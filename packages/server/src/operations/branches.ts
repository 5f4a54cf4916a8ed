import {
  ADMINS,
  type Caller,
  callerTrajectory,
  entryNamed,
  hash,
  instant,
  json,
  name,
  type Operation,
  READERS,
  requireOwnName,
  ServerError,
} from '@assize/command/operation';
import { type Writ, writId } from 'assize/internal/authority';
import { addMicros } from 'assize/internal/canon';
import { type BranchPayload, type Hash, readRow } from 'assize/internal/ledger';
import type { Trajectory } from 'assize/internal/runtime';
import { z } from 'zod';
import { limitedToken, nothingToPassOn, requireSubPrincipal } from '../principals/sub-principal.ts';
import { operation, type ServerService } from '../service.ts';

const list = operation({
  id: 'branches.list',
  method: 'get',
  path: '/v1/trajectories/{trajectory}/branches',
  summary: 'The branches of a trajectory, with the entries where they begin.',
  kinds: READERS,
  params: z.strictObject({ trajectory: name }),
  answer: z.strictObject({
    branches: z.array(
      z.strictObject({
        trajectory_id: z.string(),
        source_entry_id: hash,
        note: z.string().nullable(),
      }),
    ),
  }),
  run: async (request) => {
    const { path, service } = request;
    const trajectory = await callerTrajectory(request, path.trajectory);
    const branches = [];
    for (const { trajectory_id } of await service.store.trajectories()) {
      const [first] = await service.store.entries(trajectory_id, { from: 0, limit: 1 });
      if (first?.kind !== 'branch') continue;
      const { source_trajectory_id, source_commit_id, note } = readRow(first)
        .payload as BranchPayload;
      if (source_trajectory_id === trajectory.id)
        branches.push({ trajectory_id, source_entry_id: source_commit_id, note: note ?? null });
    }
    return { body: { branches } };
  },
});

const create = operation({
  id: 'branches.create',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/branches',
  summary: 'Create a branch that begins after an entry. The source is not changed.',
  kinds: ADMINS,
  params: z.strictObject({ trajectory: name }),
  body: z
    .strictObject({ at: name, trajectory_id: name.optional(), note: z.string().min(1).max(4_096) })
    .meta({ id: 'NewBranch' }),
  answer: z.strictObject({ trajectory_id: z.string(), entry_id: hash }),
  statuses: [201],
  errors: ['exists', 'bad_argument', 'domain_mismatch'],
  run: async (request) => {
    const { path, body, service } = request;
    if (body.trajectory_id !== undefined) requireOwnName(body.trajectory_id);
    const source = await callerTrajectory(request, path.trajectory);
    const entry = await entryNamed(request, body.at);
    if (entry.trajectory_id !== source.id)
      throw new ServerError('not_found', `The trajectory ${source.id} has no entry ${body.at}.`);
    const made = await service.assize.branch(source.id, entry.id, {
      note: body.note,
      ...nameBeside(service, source.id, body.trajectory_id),
    });
    const headers = { location: `/v1/trajectories/${encodeURIComponent(made.id)}` };
    return { status: 201, headers, body: { trajectory_id: made.id, entry_id: made.head } };
  },
});

/** The name of a branch. A deployment may require one beside its source. */
function nameBeside(
  { deployment, assize }: ServerService,
  source: string,
  given: string | undefined,
): { readonly trajectoryId?: string } {
  if (deployment === undefined) return given === undefined ? {} : { trajectoryId: given };
  const name = given ?? deployment.nameBeside(source, assize.newTrajectoryId());
  deployment.requireBeside(source, name);
  return { trajectoryId: name };
}

const TOKEN_SECONDS = 3_600;

const delegations = operation({
  id: 'delegations.list',
  method: 'get',
  path: '/v1/trajectories/{trajectory}/delegations',
  summary: 'The open delegations of a trajectory, and the delegation that created it.',
  kinds: READERS,
  params: z.strictObject({ trajectory: name }),
  answer: z.strictObject({
    origin: z.strictObject({ trajectory_id: z.string(), entry_id: hash }).nullable(),
    open: z.array(
      z.strictObject({ id: hash, child: z.string(), task: z.string(), writ_id: z.string() }),
    ),
  }),
  run: async (request) => {
    const trajectory = await callerTrajectory(request, request.path.trajectory);
    const { origin } = trajectory.delegations;
    const open = trajectory.delegations.open().map(({ id, payload }) => ({
      id,
      child: payload.child_trajectory_id,
      task: payload.task,
      writ_id: writId(payload.writ as never),
    }));
    const from =
      origin === undefined
        ? null
        : { trajectory_id: origin.trajectoryId, entry_id: origin.entryId };
    return { body: { origin: from, open } };
  },
});

const delegate = operation({
  id: 'delegations.create',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/delegations',
  summary: 'Delegate a part of the caller’s grant, with a task, to a new trajectory.',
  kinds: ['agent'],
  params: z.strictObject({ trajectory: name }),
  body: z
    .strictObject({
      task: z.string().min(1).max(65_536),
      child_trajectory_id: name.describe('names the delegation, so a repetition is the same one'),
      subject: name.describe(
        'acts in the child: an agent of the configuration, or a name below the caller’s',
      ),
      actions: z.array(name).min(1).max(256),
      scopes: z.array(name).min(1).max(256).optional(),
      budget: z.record(name, z.number().int().positive()).optional(),
      seconds: z
        .number()
        .int()
        .min(1)
        .max(86_400)
        .optional()
        .describe('how long a token counts; default: 3600'),
    })
    .meta({ id: 'NewDelegation' }),
  answer: z.strictObject({
    trajectory_id: z.string(),
    entry_id: hash,
    token: z.string().optional().describe('for a subject that the configuration does not name'),
    token_id: z.string().optional(),
    expires: instant.optional(),
  }),
  statuses: [201],
  errors: [
    'not_attenuated',
    'budget_exhausted',
    'too_many_open',
    'frozen',
    'exists',
    'idempotency_conflict',
    'halted',
  ],
  run: async (request) => {
    const { path, body, caller, service } = request;
    const trajectory = await callerTrajectory(request, path.trajectory);
    const {
      task,
      child_trajectory_id: child,
      subject,
      actions,
      scopes,
      budget,
      seconds = TOKEN_SECONDS,
    } = body;
    service.deployment?.requireBeside(trajectory.id, child);
    const terms = { subject, actions, ...(scopes && { scopes }), ...(budget && { budget }) };
    requireOwnName(child);
    const isConfigured = service.config.principals.get(subject)?.kinds.includes('agent') === true;
    if (!isConfigured) requireSubPrincipal(caller, service, subject);
    const passed = await service.grants.delegated(caller, trajectory.id, child, terms);
    if (passed === undefined) throw nothingToPassOn(caller, trajectory.id);
    const { writ, signed } = passed;
    requireRoom(caller, trajectory, writId(writ.writ), child);
    const made = await trajectory.delegations.delegate({
      task,
      childTrajectoryId: child,
      writ,
      signed,
    });
    const created = service.clock.now();
    const limited = { writ: signed, chain: [writ.writ, ...writ.chain] };
    const token = isConfigured
      ? {}
      : await limitedToken(request, subject, limited, {
          created,
          expires: addMicros(created, seconds * 1_000_000),
        });
    const headers = { location: `/v1/trajectories/${encodeURIComponent(made.id)}` };
    return {
      status: 201,
      headers,
      body: { trajectory_id: made.id, entry_id: made.head, ...token },
    };
  },
});

/** How many delegations under one grant may be open in a trajectory. */
const OPEN_MAX = 1_000;

/** A repetition opens nothing. @throws ServerError `too_many_open` */
function requireRoom(
  { name }: Caller,
  { delegations }: Trajectory,
  grant: Hash,
  child: string,
): void {
  const open = delegations
    .open()
    .filter(({ payload }) => (payload.writ as unknown as Writ).parent === grant);
  if (open.length < OPEN_MAX || open.some(({ payload }) => payload.child_trajectory_id === child))
    return;
  throw new ServerError(
    'too_many_open',
    `${name} has ${open.length} open delegations in this trajectory, the most of one grant. Conclude some first.`,
  );
}

const conclude = operation({
  id: 'delegations.conclude',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/delegations/{delegation}/conclude',
  summary: 'Conclude a delegation, with the final answer of its trajectory.',
  kinds: ['agent', 'admin'],
  params: z.strictObject({ trajectory: name, delegation: hash }),
  body: z.strictObject({ final_answer: json.optional() }).meta({ id: 'Conclusion' }),
  answer: z.strictObject({ entry_id: hash, seq: z.number().int() }),
  errors: ['wrong_state', 'wrong_state', 'idempotency_conflict'],
  run: async (request) => {
    const { path, body, caller, service } = request;
    const trajectory = await callerTrajectory(request, path.trajectory);
    const open = trajectory.delegations.open().find(({ id }) => id === path.delegation);
    const isOwn =
      open === undefined ||
      (await service.grants.isPartOfGrant(caller.name, trajectory.id, open.payload.writ as never));
    if (!isOwn && !caller.kinds.includes('admin'))
      throw new ServerError('forbidden', `${caller.name} did not make this delegation.`);
    const answer = body.final_answer === undefined ? {} : { finalAnswer: body.final_answer };
    const { id, seq } = await trajectory.delegations.conclude(path.delegation, answer);
    return { body: { entry_id: id, seq } };
  },
});

export const branches: readonly Operation<ServerService>[] = [
  list,
  create,
  delegations,
  delegate,
  conclude,
];
