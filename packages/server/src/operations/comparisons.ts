import { compareArchitectures } from '@assize/agents/internal/architectures';
import { z } from 'zod';
import { domainNamed } from './domains.ts';
import { hash, json, name } from './forms.ts';
import { type Operation, operation, READERS } from './operation.ts';

/** Larger comparisons are for `assize compare`, in a process of its own. */
const MOST = { population: 3, turns: 2, schedules: 400, seed: 2 ** 31 - 1 };

const count = z.number().int();

const rulesForm = z.array(z.strictObject({ rule: z.string(), detail: z.string() }));

const stepForm = z
  .discriminatedUnion('does', [
    z.strictObject({ does: z.literal('read'), agent: z.string() }),
    z.strictObject({
      does: z.literal('submit'),
      agent: z.string(),
      action: z.string(),
      args: json,
      outcome: z.enum(['committed', 'rejected', 'escalated', 'held']),
      reason: z.string().optional().describe('why it was not committed'),
      breaks: rulesForm.optional().describe('the rules that pass before the step, and not after it'),
    }),
  ])
  .meta({ id: 'ComparedStep', description: 'An agent reads, or submits a proposal.' });

const violationForm = z
  .strictObject({
    rule: z.string(),
    kind: z
      .enum(['skew', 'let_through'])
      .describe('`skew`: the proposal broke no rule on the state that its agent had read'),
    schedules: count.describe('the schedules in which the rule breaks in this way'),
    detail: z.string(),
    reached_by: z
      .array(
        z.strictObject({
          agent: z.string(),
          role: z.strictObject({ name: z.string(), params: z.record(z.string(), z.string()) }),
          action: z.string(),
          args: json,
        }),
      )
      .describe('the proposals that lead from the initial state of the domain to `start`'),
    start: json,
    steps: z.array(stepForm).describe('no step can be left out'),
    before: json.describe('the state before the last step'),
    after: json.describe('the state after it, on which the rule does not pass'),
  })
  .meta({ id: 'ComparedViolation', description: 'A rule that agents break, with the shortest schedule found.' });

const figuresForm = z
  .strictObject({
    architecture: z.string(),
    ...{ schedules: count, proposals: count, committed: count, rejected: count, escalated: count },
    held: count.describe('proposals that wait for the decision of a person about another one'),
    refused_valid: count.describe('rejected or escalated proposals that break no rule on the current state'),
    unreadable: count.describe('proposals whose verdict of a judge could not be read'),
    broken_schedules: count.describe('schedules in which a committed state breaks a rule'),
    violations: z.array(violationForm),
  })
  .meta({ id: 'ComparedArchitecture' });

/** The result of `compareArchitectures`, as `assize compare --json` prints it. */
const comparisonForm = z
  .strictObject({
    domain: z.strictObject({ name: z.string(), version: z.string(), hash }),
    seed: count,
    agents: z.enum(['given', 'generated']),
    population: count.describe('agents of each case'),
    turns: count.describe('how often each agent reads and submits'),
    cases: count,
    contended_cases: count.describe('cases that were chosen because two of their proposals break a rule together'),
    schedules: count.describe('the schedules that each architecture ran'),
    exhaustive: z.boolean().describe('whether every possible schedule of each case was run'),
    left_out: z.array(z.string()).describe('actions that no generated agent proposes, because they call tools'),
    architectures: z.array(figuresForm),
  })
  .meta({ id: 'ArchitectureComparison' });

const run = operation({
  id: 'comparisons.run',
  method: 'post',
  path: '/v1/comparisons',
  summary:
    'Run generated agents of a domain under a microservices architecture and under the kernel, in memory, ' +
    'and list the rules that each lets them break.',
  kinds: READERS,
  body: z
    .strictObject({
      domain: name.describe('the name or the hash of a domain of the server'),
      seed: count.min(0).max(MOST.seed).optional().describe('the start of all chance; default: 1'),
      schedules: count
        .min(1)
        .max(MOST.schedules)
        .optional()
        .describe(`the most that each architecture runs; default: ${MOST.schedules}`),
      population: count.min(2).max(MOST.population).optional().describe('agents of each case; default: 2'),
      turns: count.min(1).max(MOST.turns).optional().describe('of each agent in a schedule; default: 1'),
    })
    .meta({ id: 'ComparisonTerms' }),
  answer: comparisonForm,
  errors: ['no_such_value', 'bad_start', 'no_proposals', 'domain_stuck'],
  run: async ({ body, service, signal }) => {
    const { domain, seed, schedules, population, turns } = body;
    const compared = domainNamed(service, domain);
    const comparison = await service.comparisons.run(signal, () =>
      compareArchitectures(compared, {
        signal,
        watch: service.watch,
        ...(seed !== undefined && { seed }),
        ...(schedules !== undefined && { schedules }),
        ...(population !== undefined && { population }),
        ...(turns !== undefined && { turns }),
      }),
    );
    return { body: comparison as unknown as z.input<typeof comparisonForm> };
  },
});

export const comparisons: readonly Operation[] = [run];
