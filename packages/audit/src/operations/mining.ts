import {
  documentForm,
  hash,
  instant,
  json,
  name,
  type Operation,
  READERS,
  ServerError,
  shownRulingForm,
} from '@assize/command/operation';
import { KINDS, type MiningReport, mineStore } from '@assize/gate/internal/mining';
import { z } from 'zod';
import { backtestRules } from '#replay';
import { type AuditService, operation } from './service.ts';

const share = z.number().min(0).max(0.5);
const count = z.number().int();

const counterExampleForm = z
  .strictObject({
    run: z.string(),
    call: count.describe('the index among the calls of the run'),
    entry: z.strictObject({ trajectory_id: z.string(), seq: count, entry_id: hash }).optional(),
  })
  .meta({ id: 'CounterExample', description: 'A committed call that breaks a rule.' });

const judged = {
  support: z
    .strictObject({ runs: count, calls: count, agents: z.array(z.string()) })
    .describe('the committed calls that the rule is about'),
  counter_example_count: count,
  counter_examples: z.array(counterExampleForm).describe('the first twenty'),
};

const backtestForm = z
  .strictObject({
    judged: count,
    difference_count: count,
    changes: z.record(z.string(), count).describe('by kind, such as `committed_to_escalated`'),
    differences: z
      .array(
        z.strictObject({
          trajectory_id: z.string(),
          seq: count,
          entry_id: hash,
          action: z.string(),
          at: instant,
          without: shownRulingForm,
          with: shownRulingForm,
        }),
      )
      .describe('the first twenty'),
  })
  .meta({
    id: 'RuleBacktest',
    description: 'The recorded calls that a rule would rule on otherwise.',
  });

const candidateForm = z
  .strictObject({
    id: z.string(),
    kind: z.enum(KINDS),
    rule: documentForm.describe('its members are those of `MinedRule` of the package'),
    statement: z.string(),
    ...judged,
    confidence: z.number().describe('the share of these calls that obey the rule'),
    p: z
      .number()
      .describe('the probability that the rule holds as it does by accident; 0 for `allow`'),
    everywhere: z.strictObject(judged).describe('over all runs, with those that are not good'),
    written: z
      .strictObject({
        list: z.enum(['rules', 'limits', 'read_before_write']),
        value: json,
        isExact: z.boolean(),
        text: z.string().describe('lines of a rules file'),
        backtest: backtestForm.optional(),
      })
      .optional(),
    not_written: z.string().optional().describe('why a rules file has no place for the rule'),
  })
  .meta({ id: 'MinedCandidate', description: 'A rule that runs obey.' });

const mined = operation({
  id: 'mining.run',
  method: 'post',
  path: '/v1/mining',
  summary: 'List rules that recorded runs obey, each with its exceptions.',
  kinds: READERS,
  body: z
    .strictObject({
      trajectories: z.array(name).min(1).max(1_000),
      good: z
        .array(z.string().min(1).max(1_000))
        .max(100_000)
        .optional()
        .describe('ids of the mined runs; default: all'),
      kinds: z.array(z.enum(KINDS)).min(1).optional(),
      min_support: z
        .number()
        .int()
        .min(1)
        .optional()
        .describe('the least number of runs of a rule; default: 5'),
      exceptions: share
        .optional()
        .describe('the largest share of cases that break a rule; default: 0.05'),
      chance: share
        .optional()
        .describe('the expected share of rules that hold by chance; default: 0.05'),
      effect: z.enum(['ask', 'deny']).optional(),
      backtest: z
        .array(z.string())
        .max(20)
        .optional()
        .describe('ids of rules that rule on the recorded calls again'),
    })
    .meta({ id: 'Mining' }),
  answer: z.strictObject({
    runs: count,
    good: count,
    calls: count.describe('committed calls of the good runs'),
    erased: count.describe('actions with erased arguments (in no run)'),
    candidates: z.array(candidateForm),
    none: z.string().optional().describe('why there are no candidates'),
  }),
  errors: ['not_found'],
  run: async ({ body, service }) => {
    const {
      trajectories,
      good,
      kinds,
      min_support: minSupport,
      exceptions,
      chance,
      effect,
      backtest = [],
    } = body;
    for (const trajectory of trajectories)
      if ((await service.store.head(trajectory)) === undefined)
        throw new ServerError(
          'not_found',
          `There is no trajectory ${trajectory}. List them with GET /v1/trajectories.`,
        );
    const report: MiningReport = await mineStore(service.store, {
      trajectoryIds: trajectories,
      backtest: (store, added, terms) =>
        backtestRules(store, added, { ...terms, oracle: service.store }),
      backtested: backtest,
      ...(good !== undefined && { good }),
      ...(kinds !== undefined && { kinds }),
      ...(minSupport !== undefined && { minSupport }),
      ...(exceptions !== undefined && { exceptions }),
      ...(chance !== undefined && { chance }),
      ...(effect !== undefined && { effect }),
    });
    return { body: report as never };
  },
});

export const mining: readonly Operation<AuditService>[] = [mined];
