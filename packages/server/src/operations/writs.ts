import {
  ADMINS,
  amounts,
  callerTrajectory,
  documentForm,
  hash,
  instant,
  name,
  type Operation,
  READERS,
  rulingForm,
  ServerError,
  writForm,
} from '@assize/command/operation';
import { writId } from 'assize/internal/authority';
import { addMicros } from 'assize/internal/canon';
import { isHash, REVOKE_ACTION } from 'assize/internal/ledger';
import { listWrits, Trajectory } from 'assize/internal/runtime';
import { rulingView } from 'assize/internal/views';
import { z } from 'zod';
import { limitedToken, nothingToPassOn, requireSubPrincipal } from '../principals/sub-principal.ts';
import { operation, type ServerService } from '../service.ts';

const terms = {
  subject: name,
  actions: z.array(name).min(1).max(256),
  scopes: z.array(name).min(1).max(256).optional(),
  budget: amounts.optional(),
};
const seconds = z.number().int().min(1).max(31_536_000).describe('how long the writ is valid');

const list = operation({
  id: 'writs.list',
  method: 'get',
  path: '/v1/trajectories/{trajectory}/writs',
  summary: 'The writs that a trajectory knows, with their budgets and revocations.',
  kinds: READERS,
  params: z.strictObject({ trajectory: name }),
  answer: z.strictObject({
    writs: z.array(
      z.looseObject({
        id: hash,
        writ: writForm,
        principal: z
          .string()
          .nullable()
          .describe('the principal of the configuration whose grant it is a part of'),
        granted: amounts,
        spent: amounts,
        reserved: amounts,
        left: amounts,
        revoked: z
          .strictObject({ writ: hash, by: hash })
          .optional()
          .describe('the revoked writ, this one or one above it, and the entry'),
      }),
    ),
  }),
  run: async (request) => {
    const { path, service } = request;
    const trajectory = await callerTrajectory(request, path.trajectory);
    const known = await listWrits(service.store, trajectory.id);
    const holders = await service.grants.holdersIn(trajectory.id);
    const writs = known.map(({ id, writ, chain, granted, spent, reserved, left, revoked }) => ({
      id,
      writ: { ...writ },
      principal:
        [id, ...chain.map((one) => writId(one))].flatMap((one) => holders.get(one) ?? [])[0] ??
        null,
      granted: { ...granted },
      spent: { ...spent },
      reserved: { ...reserved },
      left: { ...left },
      ...(revoked && { revoked: { ...revoked } }),
    }));
    return { body: { writs: writs as never } };
  },
});

const issue = operation({
  id: 'writs.issue',
  method: 'post',
  path: '/v1/writs',
  summary: 'Issue a writ of the server’s root key to a holder.',
  kinds: ADMINS,
  body: z
    .strictObject({
      ...terms,
      trajectory: name.optional().describe('required with a budget'),
      seconds,
      max_depth: z.number().int().min(0).max(8).optional(),
      require_approval: z.array(name).max(256).optional(),
      nonce: name,
    })
    .meta({ id: 'NewWrit' }),
  answer: z.strictObject({ id: hash, writ: writForm }),
  statuses: [201],
  errors: ['bad_writ', 'bad_argument'],
  run: async ({ body, service }) => {
    const {
      seconds,
      subject,
      actions,
      scopes = ['**'],
      trajectory,
      budget,
      max_depth = 0,
      ...rest
    } = body;
    service.names.requireOwnOrFree(subject);
    await service.grants.stops.requireNone([subject], 'now');
    const now = service.clock.now();
    const writ = service.systemWrits.issue({
      subject,
      actions,
      scopes,
      not_before: now,
      expires: addMicros(now, seconds * 1_000_000),
      max_depth,
      nonce: rest.nonce,
      ...(trajectory !== undefined && { trajectory }),
      ...(budget !== undefined && { budget }),
      ...(rest.require_approval !== undefined && { require_approval: rest.require_approval }),
    });
    return { status: 201, body: { id: writId(writ), writ: { ...writ } as never } };
  },
});

const attenuate = operation({
  id: 'writs.attenuate',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/writs',
  summary: 'Pass a part of the caller’s grant to another principal, with a token for it.',
  kinds: ['agent'],
  params: z.strictObject({ trajectory: name }),
  body: z.strictObject({ ...terms, seconds: seconds.max(86_400) }).meta({ id: 'AttenuatedWrit' }),
  answer: z.strictObject({
    id: hash,
    writ: writForm,
    token: z.string(),
    token_id: z.string(),
    expires: instant,
  }),
  statuses: [201],
  errors: ['not_attenuated', 'bad_argument'],
  run: async (request) => {
    const { path, body, caller, service } = request;
    const trajectory = await callerTrajectory(request, path.trajectory);
    const now = service.clock.now();
    const expires = addMicros(now, body.seconds * 1_000_000);
    requireSubPrincipal(caller, service, body.subject);
    const writ = await service.grants.attenuated(caller, trajectory.id, {
      subject: body.subject,
      actions: body.actions,
      expires,
      ...(body.scopes && { scopes: body.scopes }),
      ...(body.budget && { budget: body.budget }),
    });
    if (writ === undefined) throw nothingToPassOn(caller, trajectory.id);
    await Trajectory.catchUp(trajectory);
    if (Trajectory.isRevoked(trajectory, writ))
      throw new ServerError(
        'forbidden',
        `The grant of ${caller.name} in ${trajectory.id} was revoked, so no part of it counts.`,
      );
    const token = await limitedToken(request, body.subject, writ, { created: now, expires });
    return {
      status: 201,
      body: { id: writId(writ.writ), writ: { ...writ.writ } as never, ...token },
    };
  },
});

const revoke = operation({
  id: 'writs.revoke',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/writs/{writ}/revoke',
  summary:
    'Revoke one writ and all below it; an agent gets another: `agents.stop` ends the agent. `writ`: its id, or a principal’s name for its grants there.',
  kinds: ADMINS,
  params: z.strictObject({ trajectory: name, writ: name }),
  body: z.strictObject({ reason: z.string().min(1).max(4_096) }).meta({ id: 'Revocation' }),
  answer: z.strictObject({
    revocations: z.array(
      z.strictObject({ writ_id: hash, ruling: rulingForm, propagated: z.array(documentForm) }),
    ),
  }),
  errors: ['unknown_writ', 'not_found'],
  run: async (request) => {
    const { path, body, caller, service } = request;
    const trajectory = await callerTrajectory(request, path.trajectory);
    const given = isHash(path.writ) ? [] : await service.grants.wholesOf(path.writ, trajectory.id);
    if (given.length === 0 && !isHash(path.writ))
      throw new ServerError(
        'not_found',
        `There is no writ ${path.writ}, and no principal of that name has a grant there.`,
      );
    const by = service.systemWrits.forBuiltIn(
      caller.name,
      REVOKE_ACTION,
      trajectory.id,
      service.clock.now(),
    );
    const revocations = [];
    for (const writ of given.length > 0 ? given : [path.writ]) {
      const { ruling, propagated } = await trajectory.writs.revoke({
        writ,
        by,
        reason: body.reason,
        principal: caller.name,
      });
      revocations.push({
        writ_id: typeof writ === 'string' ? writ : writId(writ.writ),
        ruling: rulingView(ruling),
        propagated: propagated.map(({ trajectoryId, error }) => ({
          trajectory_id: trajectoryId,
          applied: error === undefined,
        })),
      });
    }
    return { body: { revocations } };
  },
});

export const writs: readonly Operation<ServerService>[] = [list, issue, attenuate, revoke];
