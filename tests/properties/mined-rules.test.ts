/**
 * Mined rules, written to a rules file. The reader of rules files accepts them, and the recorded
 * calls of a gateway are ruled on as the counter-examples say.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '#base';
import { readRules } from '#domains/gateway';
import {
  gatewayRule,
  judgeRule,
  type MinedRule,
  type MiningRun,
  readRuns,
  withRules,
} from '#mining';
import { backtestRules } from '#replay';
import { cases, hasUsualCases } from '../support/cases.ts';
import { desk, said } from '../support/domains/gateway/desk.ts';

const RULES = `# The rules of the team.
id: team
default: allow # for now
tools:
  bank/pay: { class: irreversible }
  mail/send: { class: reversible }
rules:
  # People look at the rest.
  - { id: large, ask: bank/pay, where: [{ path: /cents, exists: true }, { path: /cents, min: 80 }] }
limits:
  - { id: most, tools: '*', per: minute, max: 1000 }
# The end.
`;

/** Mostly of the usual form, and rarely of one that rules cannot compare. */
function rarely(usual: fc.Arbitrary<Json>, odd: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  return fc.oneof({ weight: 60, arbitrary: usual }, odd);
}

const step = fc.record({
  agent: fc.constantFrom('ada', 'ben'),
  tool: fc.constantFrom('bank/pay', 'mail/send'),
  args: fc.record(
    {
      cents: rarely(fc.integer({ min: 0, max: 100 }), fc.constantFrom<Json>('x', null, 49.5)),
      folder: fc.constantFrom('inbox', 'archive', 'sent', 7),
      to: rarely(fc.array(fc.constantFrom('a', 'b'), { maxLength: 4 }), fc.constant('a')),
      deep: rarely(fc.record({ n: fc.integer({ min: 0, max: 9 }) }), fc.constant(3)),
    },
    { requiredKeys: [] },
  ),
  seconds: fc.constantFrom(0, 1, 20, 2_000),
  isApproved: fc.boolean(),
});

const tool = fc.constantFrom('bank/pay', 'mail/send');
const stateless = fc.oneof(
  fc.record({
    kind: fc.constant('bound'),
    tool,
    path: fc.constant('/cents'),
    of: fc.constant('value'),
    max: fc.integer({ min: 1, max: 90 }),
  }),
  fc.record({
    kind: fc.constant('bound'),
    tool,
    path: fc.constant('/deep/n'),
    of: fc.constant('value'),
    max: fc.integer({ min: 1, max: 8 }),
  }),
  fc.record({
    kind: fc.constant('bound'),
    tool,
    path: fc.constant('/to'),
    of: fc.constant('length'),
    max: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record({
    kind: fc.constant('values'),
    tool,
    path: fc.constant('/folder'),
    values: fc.constantFrom(['inbox'], ['archive', 'inbox'], ['sent']),
  }),
  fc.record({
    kind: fc.constant('approval'),
    tool,
    from: fc.record({
      path: fc.constantFrom('/cents', '/deep/n'),
      min: fc.integer({ min: 1, max: 90 }),
    }),
  }),
  fc.record({ kind: fc.constant('approval'), tool }),
  fc.record({
    kind: fc.constant('never'),
    tool,
    by: fc.constant('principal'),
    names: fc.constantFrom(['ada'], ['ada', 'ben']),
  }),
) as fc.Arbitrary<MinedRule>;
const rate = fc.record({
  kind: fc.constant('rate'),
  tool,
  per: fc.constantFrom('minute', 'hour', 'day'),
  max: fc.integer({ min: 1, max: 3 }),
}) as fc.Arbitrary<MinedRule>;

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function recorded(steps: readonly Step[], yaml: string) {
  const made = await desk(yaml);
  for (const { agent, tool: called, args, seconds, isApproved } of steps) {
    made.clock.forward(seconds * 1_000);
    const ruling = await made.call(agent, called, args);
    if (ruling.ruling !== 'escalated') continue;
    if (isApproved) await made.approve(ruling);
    else
      await made.trajectory.approvals.reject(ruling.pending, {
        principal: 'human:grace',
        method: 'test',
        reason: 'no',
      });
  }
  const { runs } = await readRuns(made.store, ['desk']);
  return { ...made, runs };
}

/** The calls that a rule without memory meets, whatever was ruled on them. */
function met(
  rule: MinedRule,
  runs: readonly MiningRun[],
  ruling: string,
  isApproved: boolean,
): number {
  const chosen = runs.map(({ id, calls }) => ({
    id,
    calls: calls
      .filter((call) => call.ruling === ruling && (call.approvedBy !== undefined) === isApproved)
      .map((call) => {
        const { approvedBy: _, ...rest } = call;
        return { ...rest, ruling: 'committed' as const };
      }),
  }));
  return judgeRule(rule, chosen).counter_example_count;
}

test('a written rule rules on recorded calls as its counter-examples say', async () => {
  const kinds = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 25 }),
      stateless,
      fc.constantFrom('ask' as const, 'deny' as const),
      async (steps, rule, effect) => {
        const { store, runs, assize } = await recorded(steps, RULES);
        const written = gatewayRule({ id: 'mined', rule }, [], { effect });
        const [report] = await backtestRules(store, [written], {
          trajectoryIds: ['desk'],
          rules: readRules(RULES).rules,
        });
        await assize.close();
        const denies = 'deny' in written.value;
        // An argument that cannot be compared denies, whatever the rule would do.
        const misfits = runs
          .flatMap(({ calls }) => calls)
          .filter(({ args }) => isMisfit(rule, args));
        const free = met(rule, runs, 'committed', false);
        const total = Object.values(report!.changes).reduce((sum, each) => sum + each, 0);
        if (misfits.length > 0) expect(total).toBeGreaterThanOrEqual(free);
        else if (denies)
          expect(report!.changes).toEqual(
            counted({
              committed_to_rejected: free,
              escalated_to_rejected:
                met(rule, runs, 'committed', true) + met(rule, runs, 'rejected', false),
            }),
          );
        else expect(report!.changes).toEqual(counted({ committed_to_escalated: free }));
        if (total > 0 && misfits.length === 0)
          kinds.set(rule.kind, (kinds.get(rule.kind) ?? 0) + 1);
      },
    ),
    { numRuns: cases(1_200) },
  );
  if (hasUsualCases())
    expect([...kinds.keys()].sort()).toEqual(['approval', 'bound', 'never', 'values']);
  expect(kinds.size).toBeGreaterThan(0);
});

function counted(changes: Readonly<Record<string, number>>): object {
  return Object.fromEntries(Object.entries(changes).filter(([, count]) => count > 0));
}

/** Whether the rule compares a number or a list, and the argument is something else. */
function isMisfit(rule: MinedRule, args: unknown): boolean {
  const { cents, to, deep } = args as { cents?: unknown; to?: unknown; deep?: unknown };
  if (cents !== undefined && typeof cents !== 'number') return true;
  if (deep !== undefined && typeof deep !== 'object') return true;
  return rule.kind === 'bound' && rule.of === 'length' && to !== undefined && !Array.isArray(to);
}

test('a written limit stops the calls beyond it', async () => {
  let stopped = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 10, maxLength: 30 }),
      rate,
      async (steps, rule) => {
        const free = RULES.replace(/ {2}- \{ id: large.*\n/, '').replace('rules:\n', '');
        const { store, runs, assize } = await recorded(steps, free);
        const [report] = await backtestRules(store, [gatewayRule({ id: 'mined', rule })], {
          trajectoryIds: ['desk'],
          rules: readRules(free).rules,
        });
        await assize.close();
        const { counter_example_count: beyond, counter_examples: examples } = judgeRule(rule, runs);
        expect(report!.changes).toEqual(counted({ committed_to_rejected: beyond }));
        const stoppedIds = report!.differences.map(({ entry_id }) => entry_id);
        expect(new Set(stoppedIds)).toEqual(new Set(examples.map(({ entry }) => entry!.entry_id)));
        stopped += beyond;
      },
    ),
    { numRuns: cases(400) },
  );
  expect(stopped).toBeGreaterThan(0);
});

test('a rules file keeps every line when rules are added', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(stateless, rate), { minLength: 1, maxLength: 5 }),
      fc.constantFrom(...layouts()),
      (rules, text) => {
        const added = rules.map((rule, i) => gatewayRule({ id: `mined-${i}`, rule }));
        const changed = withRules(text, added);
        const before = readRules(text).rules;
        const after = readRules(changed).rules;
        const ids = (of: typeof before) => [...of.rules, ...of.limits].map(({ id }) => id).sort();
        expect(ids(after)).toEqual([...ids(before), ...added.map(({ value }) => value.id)].sort());
        expect({ ...after, rules: [], limits: [] }).toEqual({ ...before, rules: [], limits: [] });
        for (const line of text.split('\n').filter((each) => each.includes('#')))
          expect(changed.split('\n')).toContain(line);
      },
    ),
    { numRuns: cases(400) },
  );
});

function layouts(): string[] {
  return [
    RULES,
    'id: bare # nothing else',
    '# top\nid: flat\nrules: [{ id: a, deny: "*" }]\nlimits: []\n# end\n',
    'id: wide\nrules:\n\n    # first\n    - id: a\n      deny: fs/* # no files\n      because: >\n        Two\n        lines.\n\n    # after\nlimits:\n- { id: b, tools: "*", per: day, max: 3 } # three\n',
    'id: last\nlimits:\n  - { id: b, tools: "*", per: day, max: 3 }',
  ];
}

test('the desk of this test records approvals', async () => {
  const { runs } = await recorded(
    [
      { agent: 'ada', tool: 'bank/pay', args: { cents: 90 }, seconds: 0, isApproved: true },
    ] as never,
    RULES,
  );
  expect(runs[0]?.calls).toMatchObject([
    { approvedBy: ['human:grace'], ruling: 'committed', principal: 'ada' },
  ]);
  expect(said(await (await desk(RULES)).call('ada', 'bank/pay', { cents: 90 }))).toBe(
    'escalated large',
  );
});
