import {
  domainRefForm,
  hash,
  instant,
  json,
  name,
  type Operation,
  READERS,
  ServerError,
  shownRulingForm,
} from '@assize/command/operation';
import { gatewayUnder, readRules } from '@assize/gate/internal/gateway';
import { isAssizeError, type Json } from 'assize/internal/base';
import type { Domain } from 'assize/internal/kernel';
import { z } from 'zod';
import { backtestStore } from '#replay';
import { type AuditService, operation } from './service.ts';
import { titled } from './titles.ts';

const verdictDifferenceForm = z
  .looseObject({
    trajectory_id: z.string(),
    seq: z.number().int(),
    entry_id: hash,
    action: z.string(),
    title: z.string().optional().describe('what was asked, in words; absent after an erasure'),
    at: instant,
    recorded: shownRulingForm,
    now: shownRulingForm,
    writ_assumed: z
      .literal(true)
      .optional()
      .describe('the writ was never checked, and is assumed to grant it'),
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
  summary:
    'Rule on recorded proposals again, under a rule table or another version of their domain.',
  kinds: READERS,
  body: z
    .strictObject({
      trajectories: z.array(name).min(1).max(1_000),
      rules: json.optional().describe('a rule table, as docs/guide/policies.md describes it'),
      rules_file: z
        .string()
        .max(1_048_576)
        .optional()
        .describe('the text of a rules file, for trajectories of the domain `gateway`'),
      domain_hash: name.optional(),
      from_seq: z
        .number()
        .int()
        .min(0)
        .optional()
        .describe('the first entry whose ruling is compared'),
      to_seq: z
        .number()
        .int()
        .min(0)
        .optional()
        .describe('the last entry whose ruling is compared'),
      limit: z
        .number()
        .int()
        .min(1)
        .max(1_000)
        .optional()
        .describe('listed differences; all are counted'),
    })
    .meta({ id: 'Backtest' }),
  answer: z.strictObject({ reports: z.array(backtestForm) }),
  errors: ['bad_input', 'not_found'],
  run: async ({ body, service }) => {
    const {
      trajectories,
      rules,
      rules_file: file,
      domain_hash: hash,
      from_seq: fromSeq,
      to_seq: toSeq,
      limit,
    } = body;
    if (file !== undefined && hash !== undefined)
      throw new ServerError(
        'invalid_request',
        'The request is not valid: `rules_file` is a version of the domain. Leave out `domain_hash`.',
      );
    const versions = service.domains.filter((domain) => domain.hash === hash);
    if (hash !== undefined && versions.length === 0)
      throw new ServerError(
        'not_found',
        `There is no domain ${hash}. List them with GET /v1/domains.`,
      );
    const instead = file === undefined ? versions : [domainUnder(file)];
    if (rules === undefined && file === undefined && hash === undefined) {
      const findings = [
        { pointer: '/body', message: 'needs `rules`, `rules_file` or `domain_hash`' },
      ];
      const what =
        'The request is not valid: a backtest needs `rules`, `rules_file` or `domain_hash`.';
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
    const worded = reports.map(async (report) => ({
      ...report,
      differences: await titled(service, report.differences, (one) => one.entry_id),
    }));
    return { body: { reports: (await Promise.all(worded)) as never } };
  },
});

/** @throws ServerError `invalid_request` if the text does not parse as a rules file */
function domainUnder(file: string): Domain {
  try {
    return gatewayUnder(readRules(file).rules) as unknown as Domain;
  } catch (error) {
    if (!isAssizeError(error, 'bad_rules')) throw error;
    throw new ServerError('invalid_request', error.message);
  }
}

export const backtests: readonly Operation<AuditService>[] = [backtest];
