import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type PolicyQuery, type Rule, type RuleTable, ruleTable, type Verdict } from '#authority';
import { declareTool } from '#effects';
import { call, defineDomain } from '#kernel';
import { readRow } from '#ledger';
import { backtest, deepReplay } from '#replay';
import type { Ruling, Trajectory } from '#runtime';
import { cases, hasUsualCases } from '../support/cases.ts';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';

// Rows of a rule table about tool calls: compared with an evaluation without shortcuts, and in
// trajectories, where the bank pays nothing that the table denies.

type Call = NonNullable<PolicyQuery['calls']>[number];
type Pattern = NonNullable<Rule['calls']>[number];
type Condition = NonNullable<Pattern['where']>[number];
type Answer = boolean | 'error';

const TOOLS = ['bank.pay', 'bank.fee.waive', 'banks.pay', 'mail.send'];

const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ path: fc.constant('/cents'), min: fc.integer({ min: 0, max: 4 }) }),
  fc.record({ path: fc.constant('/cents'), max: fc.integer({ min: 0, max: 4 }) }),
  fc.record({ path: fc.constantFrom('/cents', '/to'), exists: fc.boolean() }),
  fc.record({ path: fc.constantFrom('/cents', '/to'), is: fc.constantFrom(0, 3, 'ada') }),
);
const pattern: fc.Arbitrary<Pattern> = fc.record(
  {
    tool: fc.constantFrom('**', 'bank.*', 'bank.fee.*', 'bank.pay', 'mail.send'),
    where: fc.array(condition, { maxLength: 2 }),
  },
  { requiredKeys: ['tool'] },
);
const row = fc.record(
  {
    effect: fc.constantFrom<Verdict>('allow', 'deny', 'needs_approval'),
    actions: fc.constantFrom(['pay'], ['**'], ['other']),
    calls: fc.array(pattern, { maxLength: 3 }),
  },
  { requiredKeys: ['effect', 'actions'] },
);
const table: fc.Arbitrary<RuleTable> = fc.record({
  id: fc.constant('drawn'),
  rules: fc
    .array(row, { maxLength: 4 })
    .map((rows) => rows.map((each, index): Rule => ({ ...each, id: `r${index}` }))),
  otherwise: fc.constantFrom('allow', 'deny'),
});
const anyCall: fc.Arbitrary<Call> = fc.record({
  tool: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...TOOLS) },
    { weight: 1, arbitrary: fc.constantFrom('bank.*', '') },
  ),
  input: fc.oneof(
    {
      weight: 9,
      arbitrary: fc.record(
        {
          cents: fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constant('3')),
          to: fc.constantFrom('ada', 3),
        },
        { requiredKeys: [] },
      ),
    },
    { weight: 1, arbitrary: fc.constantFrom(null, 'ada', 3) },
  ),
});

function holds(one: Condition, input: any): Answer {
  if (typeof input !== 'object' || input === null) return 'error';
  const value = input[one.path.slice(1)];
  if (one.exists !== undefined) return one.exists === (value !== undefined);
  if (value === undefined) return 'error';
  if (one.is !== undefined) return one.is === value;
  if (typeof value !== 'number') return 'error';
  return one.min === undefined ? value <= (one.max as number) : value >= one.min;
}

function matches({ tool, where = [] }: Pattern, { tool: called, input }: Call): Answer {
  const group = tool.split('.*')[0] as string;
  const isOfTool =
    tool === '**' || tool === called || (tool !== group && called.startsWith(`${group}.`));
  if (!isOfTool) return false;
  return where.map((one) => holds(one, input)).find((answer) => answer !== true) ?? true;
}

function applies({ effect, calls: patterns }: Rule, calls: readonly Call[]): Answer {
  if (patterns === undefined) return true;
  if (patterns.length === 0) return calls.length === 0;
  const grid = calls.map((each) => patterns.map((one) => matches(one, each)));
  if (grid.flat().includes('error') || calls.some(({ tool }) => !TOOLS.includes(tool)))
    return 'error';
  const matching = grid.filter((answers) => answers.includes(true)).length;
  return effect === 'allow' ? matching > 0 && matching === calls.length : matching > 0;
}

function naive({ rules, otherwise }: RuleTable, calls: readonly Call[]) {
  const rows = rules.filter(({ actions }) => actions[0] !== 'other');
  const applied = rows.filter((one) => applies(one, calls) === true);
  const winner = (['deny', 'needs_approval', 'allow'] as const)
    .map((verdict) => applied.find(({ effect }) => effect === verdict))
    .find((one) => one !== undefined);
  const isError = rows.some((one) => applies(one, calls) === 'error');
  return { decision: isError ? 'deny' : (winner?.effect ?? otherwise), rule: winner?.id, isError };
}

const ASKED = {
  action: 'pay',
  role: { name: 'clerk', params: {} },
  args: { cents: 9 },
  scopes: [],
  principal: 'agent:a',
  writ_id: 'f'.repeat(64),
  trajectory_id: 't',
  at: '2026-01-01T00:00:00.000000Z',
};

test('a table decides on calls as an evaluation without shortcuts does', () => {
  const met: Record<string, number> = {};
  fc.assert(
    fc.property(table, fc.array(anyCall, { maxLength: 4 }), (drawn, calls) => {
      const { decision, rule, errors } = ruleTable(drawn).evaluate({ ...ASKED, calls });
      const model = naive(drawn, calls);
      expect({ decision, rule, isError: errors.length > 0 }).toEqual(model);
      const kind = model.isError ? 'error' : decision;
      met[kind] = (met[kind] ?? 0) + 1;
    }),
    { numRuns: cases(4_000) },
  );
  if (!hasUsualCases()) return;
  for (const kind of ['error', 'allow', 'deny', 'needs_approval'])
    expect([kind, met[kind]]).not.toContain(undefined);
});

const ASK_ABOVE = 6;
const LIMIT = 12;
const amounts = z.array(z.int());

const POLICY: RuleTable = {
  id: 'payments',
  otherwise: 'deny',
  rules: [
    { id: 'tools', effect: 'allow', actions: ['bank.pay'], roles: ['assize.tool'] },
    { id: 'none', effect: 'allow', actions: ['pay', 'note'], calls: [] },
    {
      id: 'small',
      effect: 'allow',
      actions: ['pay', 'note'],
      calls: [{ tool: 'bank.*', where: [{ path: '/cents', max: ASK_ABOVE }] }],
    },
    {
      id: 'large',
      effect: 'needs_approval',
      actions: ['pay', 'note'],
      calls: [{ tool: 'bank.*', where: [{ path: '/cents', min: ASK_ABOVE + 1 }] }],
    },
    {
      id: 'cap',
      effect: 'deny',
      actions: ['**'],
      calls: [{ tool: '**', where: [{ path: '/cents', min: LIMIT + 1 }] }],
    },
  ],
};

/** The decision and the rule that the table has for payments of these amounts. */
function ruleFor(cents: readonly number[]): { decision: Verdict; rule: string } {
  const largest = Math.max(0, ...cents);
  if (largest > LIMIT) return { decision: 'deny', rule: 'cap' };
  if (largest > ASK_ABOVE) return { decision: 'needs_approval', rule: 'large' };
  return { decision: 'allow', rule: cents.length === 0 ? 'none' : 'small' };
}

/** Two ways to pay: an action that declares its calls, and a body with an action that has none. */
function payments() {
  const paid: number[] = [];
  const pay = declareTool({
    name: 'bank.pay',
    input: z.strictObject({ cents: z.int() }),
    class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['bank:all'],
    execute: ({ cents }) => {
      paid.push(cents);
      return null;
    },
    compensate: () => ({ undone: 'all' }),
  });
  const domain = defineDomain({
    name: 'payments',
    version: '1',
    state: z.object({ paid: amounts, notes: z.int() }),
    initial: { paid: [], notes: 0 },
    unjudgedCalls: 'allow',
    processes: { pay: { writes: ['/paid', '/notes'] } },
    roles: { clerk: { processes: ['pay'] } },
    counselors: { manager: (principal) => principal === 'manager' },
    actions: {
      pay: {
        process: 'pay',
        args: z.strictObject({ amounts }),
        apply: (state, args) => {
          state.paid = [...args.amounts];
        },
        calls: (state) => state.paid.map((cents) => call(pay, { cents })),
      },
      note: {
        process: 'pay',
        args: z.strictObject({}),
        apply: (state) => {
          state.notes += 1;
        },
      },
    },
    invariants: () => [],
  });
  return { paid, pay, domain };
}

const drawnAmounts = fc.array(fc.integer({ min: 1, max: 16 }), { maxLength: 3 });
const step = fc.record({
  amounts: drawnAmounts,
  hasBody: fc.boolean(),
  decision: fc.constantFrom('approve', 'reject', 'amend'),
  amended: drawnAmounts,
});
type Step = typeof step extends fc.Arbitrary<infer Drawn> ? Drawn : never;

const writ = writFor('clerk', { trajectory: 't' });
const by = { role: 'clerk', writ };
const manager = { principal: 'manager', method: 'desk' };

async function proposed(
  trajectory: Trajectory,
  { amounts: drawn, hasBody }: Step,
): Promise<Ruling> {
  if (!hasBody) return trajectory.propose({ ...by, action: 'pay', args: { amounts: drawn } });
  const { ruling } = await trajectory.transaction({ writ, writes: ['bank:**'] }, async (tx) => {
    for (const cents of drawn) await tx.call('bank.pay', { cents });
    tx.propose({ role: 'clerk', action: 'note', args: {} });
  });
  return ruling as Ruling;
}

/** The recorded decision of the policy. */
function recordedIn(ruling: Ruling): unknown {
  if (!('entry' in ruling)) throw new Error(JSON.stringify(ruling));
  const { policy } = readRow(ruling.entry).payload as {
    policy?: { decision: Verdict; rule?: string };
  };
  return policy && { decision: policy.decision, rule: policy.rule };
}

/** Makes one step, and returns the payments that it must have made. */
async function act(trajectory: Trajectory, one: Step): Promise<readonly number[]> {
  const rule = ruleFor(one.amounts);
  const ruling = await proposed(trajectory, one);
  const expected = { allow: 'committed', needs_approval: 'escalated', deny: 'rejected' }[
    rule.decision
  ];
  expect(ruling.ruling).toBe(expected);
  expect(recordedIn(ruling)).toEqual(rule);
  if (ruling.ruling !== 'escalated') return ruling.ruling === 'committed' ? one.amounts : [];
  if (one.decision === 'approve' || (one.decision === 'amend' && one.hasBody)) {
    expect(recordedIn(await trajectory.approvals.approve(ruling.pending, manager))).toEqual(rule);
    return one.amounts;
  }
  if (one.decision === 'amend') {
    const amended = ruleFor(one.amended);
    const approving = trajectory.approvals.approve(ruling.pending, {
      ...manager,
      args: { amounts: one.amended },
    });
    if (amended.decision !== 'deny' && String(one.amended) !== String(one.amounts)) {
      expect(recordedIn(await approving)).toEqual(amended);
      return one.amended;
    }
    await expect(approving).rejects.toMatchObject({ code: 'invalid_amendment' });
  }
  await trajectory.approvals.reject(ruling.pending, { ...manager, reason: 'no' });
  return [];
}

test('the bank pays what the table allows, and every reader agrees', () => {
  const policy = ruleTable(POLICY);
  return fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (steps) => {
      const { paid, pay, domain } = payments();
      const store = new MemoryStore();
      const assize = runtimeOver(store, [domain], { tools: [pay], policy });
      const trajectory = (await assize.create(domain, {
        trajectoryId: 't',
      })) as unknown as Trajectory;
      const expected: number[] = [];
      for (const one of steps) {
        expected.push(...(await act(trajectory, one)));
        expect(paid).toEqual(expected);
      }
      await assize.close();
      const options = { domains: [domain as never], policy };
      const deep = await deepReplay(store, 't', options);
      expect(deep.differences).toEqual([]);
      expect(deep.taken_as_recorded.policy).toBeUndefined();
      expect((await backtest(store, 't', options)).differences).toEqual([]);
    }),
    { numRuns: cases(400) },
  );
});
