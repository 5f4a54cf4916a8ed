import { backtestStore } from '@assize/audit/internal/replay';
import type { Json } from 'assize/internal/base';
import { UPGRADE_ACTION } from 'assize/internal/kernel';
import { HALT_ACTION } from 'assize/internal/ledger';
import type { HaltOutcome, Trajectory } from 'assize/internal/runtime';
import { rulingView } from 'assize/internal/views';
import { z } from 'zod';
import { ServerError } from '../errors.ts';
import { callerTrajectory } from '../reach.ts';
import { documentForm, hash, instant, json, name, patchForm, rulingForm } from './forms.ts';
import { ADMINS, type Operation, operation, READERS } from './operation.ts';

const reason = z.string().min(1).max(4_096);
const domainRefForm = z.strictObject({ name: z.string(), version: z.string(), hash: z.string() });
const stopAnswer = z.strictObject({ ruling: rulingForm, propagated: z.array(documentForm) });

const stopped = (does: 'halt' | 'resume') =>
  operation({
    id: `trajectories.${does}`,
    method: 'post',
    path: `/v1/trajectories/{trajectory}/${does}`,
    summary: does === 'halt' ? 'Stop a trajectory: no proposal and no approval counts.' : 'End a halt.',
    kinds: ADMINS,
    params: z.strictObject({ trajectory: name }),
    body: z.strictObject({ reason }).meta({ id: does === 'halt' ? 'Halt' : 'Resume' }),
    answer: stopAnswer,
    errors: ['already_done', 'halted', 'concluded'],
    run: async (request) => {
      const { path, body, caller, service } = request;
      const trajectory: Trajectory = await callerTrajectory(request, path.trajectory);
      const writ = service.offices.forOffice(caller.name, HALT_ACTION, trajectory.id, service.clock.now());
      const outcome: HaltOutcome = await trajectory[does]({ reason: body.reason, writ, principal: caller.name });
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
  summary: 'Continue a trajectory under another version of its domain, which the server has.',
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
    if (head === undefined) throw new ServerError('not_found', `There is no trajectory ${path.trajectory}.`);
    const now = await service.assize.domainAt(head);
    const versions = service.domains.filter(
      ({ name, hash }) =>
        (body.domain_hash === undefined ? name === now.name : hash === body.domain_hash) && hash !== now.hash,
    );
    const [next, ...more] = versions;
    if (next === undefined || more.length > 0)
      throw new ServerError(
        'not_found',
        `The server has ${versions.length} other versions of ${now.name}. Name one with domain_hash, or configure it.`,
      );
    const migrate = service.migrations.get(next.hash);
    const done = await service.assize.upgrade(path.trajectory, next, {
      writ: service.offices.forOffice(caller.name, UPGRADE_ACTION, path.trajectory, service.clock.now()),
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

export const shownRulingForm: z.ZodType = z
  .looseObject({
    ruling: z.enum(['committed', 'rejected', 'escalated']),
    reason: z.string().optional(),
    invariant_id: z.string().optional(),
    rule: z.string().optional().describe('the rule of the policy that denied or required approval'),
    channel: z.string().optional(),
    approvals: z.number().int().optional(),
    detail: z.string().optional(),
  })
  .meta({ id: 'ShownRuling', description: 'A ruling of a backtest, recorded or new.' });

const verdictDifferenceForm = z
  .looseObject({
    trajectory_id: z.string(),
    seq: z.number().int(),
    entry_id: hash,
    action: z.string(),
    at: instant,
    recorded: shownRulingForm,
    now: shownRulingForm,
    writ_assumed: z.literal(true).optional().describe('the writ was never checked, and is assumed to grant it'),
  })
  .meta({ id: 'VerdictDifference', description: 'A proposal with another ruling.' });

const counts = z.record(z.string(), z.number().int());

const backtestForm = z
  .looseObject({
    trajectory_id: z.string(),
    domain: domainRefForm,
    recorded_domain: domainRefForm,
    policy: z.strictObject({ id: z.string(), digest: hash }).optional(),
    entries: z.number().int(),
    judged: z.number().int(),
    same: z.number().int(),
    changes: counts.describe('differences by kind, such as `committed_to_escalated`'),
    not_judgeable: counts.describe('proposals that cannot be ruled on again, by reason'),
    resolutions: z.number().int(),
    moot_resolutions: z.number().int().describe('human decisions that would not have been needed'),
    difference_count: z.number().int(),
    differences: z.array(verdictDifferenceForm).describe('the first ones, at most `limit`'),
  })
  .meta({ id: 'BacktestReport' });

const backtest = operation({
  id: 'backtests.run',
  method: 'post',
  path: '/v1/backtests',
  summary: 'Rule on recorded proposals again, under a rule table or another version of their domain.',
  kinds: READERS,
  body: z
    .strictObject({
      trajectories: z.array(name).min(1).max(1_000),
      rules: json.optional().describe('a rule table, as docs/guide/policies.md describes it'),
      domain_hash: name.optional(),
      from_seq: z.number().int().min(0).optional().describe('the first entry whose ruling is compared'),
      to_seq: z.number().int().min(0).optional().describe('the last entry whose ruling is compared'),
      limit: z.number().int().min(1).max(1_000).optional().describe('listed differences; all are counted'),
    })
    .meta({ id: 'Backtest' }),
  answer: z.strictObject({ reports: z.array(backtestForm) }),
  errors: ['bad_input', 'not_found'],
  run: async ({ body, service }) => {
    const { trajectories, rules, domain_hash: hash, from_seq: fromSeq, to_seq: toSeq, limit } = body;
    const instead = service.domains.filter((domain) => domain.hash === hash);
    if (hash !== undefined && instead.length === 0)
      throw new ServerError('not_found', `There is no domain ${hash}. List them with GET /v1/domains.`);
    if (rules === undefined && hash === undefined) {
      const findings = [{ pointer: '/body', message: 'needs `rules`, `domain_hash`, or both' }];
      const what = 'The request is not valid: a backtest needs `rules`, `domain_hash`, or both.';
      throw new ServerError('invalid_request', what, { evidence: { findings } });
    }
    for (const trajectory of trajectories)
      if ((await service.store.head(trajectory)) === undefined)
        throw new ServerError('not_found', `There is no trajectory ${trajectory}.`);
    const reports = await backtestStore(service.store, {
      domains: [...service.domains],
      instead,
      trajectoryIds: trajectories,
      oracle: service.store,
      ...(rules !== undefined && { policy: service.policyOf(rules as Json) }),
      ...(fromSeq !== undefined && { fromSeq }),
      ...(toSeq !== undefined && { toSeq }),
      ...(limit !== undefined && { limit }),
    });
    return { body: { reports: reports as unknown as z.input<typeof backtestForm>[] } };
  },
});

export const control: readonly Operation[] = [stopped('halt'), stopped('resume'), upgrade, backtest];
