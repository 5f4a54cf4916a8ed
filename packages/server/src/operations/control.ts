import {
  ADMINS,
  callerTrajectory,
  documentForm,
  name,
  type Operation,
  patchForm,
  rulingForm,
  ServerError,
} from '@assize/command/operation';
import { UPGRADE_ACTION } from 'assize/internal/kernel';
import { HALT_ACTION } from 'assize/internal/ledger';
import type { HaltOutcome, Trajectory } from 'assize/internal/runtime';
import { rulingView } from 'assize/internal/views';
import { z } from 'zod';
import { operation, type ServerService } from '../service.ts';

const reason = z.string().min(1).max(4_096);
const stopAnswer = z.strictObject({ ruling: rulingForm, propagated: z.array(documentForm) });

const stopped = (does: 'halt' | 'resume') =>
  operation({
    id: `trajectories.${does}`,
    method: 'post',
    path: `/v1/trajectories/{trajectory}/${does}`,
    summary:
      does === 'halt' ? 'Stop a trajectory: no proposal and no approval counts.' : 'End a halt.',
    kinds: ADMINS,
    params: z.strictObject({ trajectory: name }),
    body: z.strictObject({ reason }).meta({ id: does === 'halt' ? 'Halt' : 'Resume' }),
    answer: stopAnswer,
    errors: ['already_done', 'halted', 'concluded'],
    run: async (request) => {
      const { path, body, caller, service } = request;
      const trajectory: Trajectory = await callerTrajectory(request, path.trajectory);
      const writ = service.systemWrits.forBuiltIn(
        caller.name,
        HALT_ACTION,
        trajectory.id,
        service.clock.now(),
      );
      const outcome: HaltOutcome = await trajectory[does]({
        reason: body.reason,
        writ,
        principal: caller.name,
      });
      if (does === 'resume') await service.gateways.ready(trajectory);
      const propagated = outcome.propagated.map(({ trajectoryId, error }) => ({
        trajectory_id: trajectoryId,
        applied: error === undefined,
      }));
      return { body: { ruling: rulingView(outcome.ruling), propagated } };
    },
  });

const upgrade = operation({
  id: 'trajectories.upgrade',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/upgrade',
  summary: 'Continue a trajectory under another version of its domain that the server has.',
  kinds: ADMINS,
  params: z.strictObject({ trajectory: name }),
  body: z
    .strictObject({
      reason,
      domain_hash: name.optional().describe('default: the only other version of that name'),
      dry_run: z.boolean().optional(),
    })
    .meta({ id: 'Upgrade' }),
  answer: z.strictObject({
    dry_run: z.boolean(),
    ruling: rulingForm.optional(),
    refused: documentForm.optional(),
    from: documentForm,
    to: documentForm,
    patches: z.array(patchForm),
    carried: z.array(z.string()),
    closed: z.array(documentForm),
  }),
  errors: ['already_done', 'domain_mismatch', 'not_found'],
  run: async (request) => {
    const { path, body, caller, service } = request;
    const head = await service.store.head(path.trajectory);
    if (head === undefined)
      throw new ServerError('not_found', `There is no trajectory ${path.trajectory}.`);
    const now = await service.assize.domainAt(head);
    const versions = service.domains.filter(
      ({ name, hash }) =>
        (body.domain_hash === undefined ? name === now.name : hash === body.domain_hash) &&
        hash !== now.hash,
    );
    const [next, ...more] = versions;
    if (next === undefined || more.length > 0)
      throw new ServerError(
        'not_found',
        `The server has ${versions.length} other versions of ${now.name}. Name one with domain_hash, or configure it.`,
      );
    const migrate = service.migrations.get(next.hash);
    const done = await service.assize.upgrade(path.trajectory, next, {
      writ: service.systemWrits.forBuiltIn(
        caller.name,
        UPGRADE_ACTION,
        path.trajectory,
        service.clock.now(),
      ),
      principal: caller.name,
      reason: body.reason,
      dryRun: body.dry_run ?? false,
      ...(migrate !== undefined && { migrate }),
    });
    return {
      body: {
        dry_run: done.ruling === undefined,
        ...(done.ruling !== undefined && { ruling: rulingView(done.ruling) }),
        ...(done.refused !== undefined && { refused: { ...done.refused } }),
        from: { ...done.from },
        to: { ...done.to },
        patches: done.patches as never,
        carried: [...done.carried],
        closed: done.closed.map((one) => ({ ...one })),
      },
    };
  },
});

export const control: readonly Operation<ServerService>[] = [
  stopped('halt'),
  stopped('resume'),
  upgrade,
];
