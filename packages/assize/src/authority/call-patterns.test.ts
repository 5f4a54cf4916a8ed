import { describe, expect, test } from 'vitest';
import type { Json } from '#base';
import { contentHash } from '#canon';
import type { PolicyQuery, Verdict } from './policy.ts';
import { parseRuleTable } from './read-rule-table.ts';
import type { CallPattern, Rule } from './rule.ts';
import { ruleTable } from './rule-table.ts';

type Calls = PolicyQuery['calls'];

const NEITHER = { allow: false, others: false };

const pay = (cents: Json) => ({ tool: 'bank.pay', input: { cents } });
const mail = { tool: 'mail.send', input: { to: 'ada' } };
const over = (min: number): CallPattern => ({ tool: 'bank.*', where: [{ path: '/cents', min }] });
const upTo = (max: number): CallPattern => ({ tool: 'bank.pay', where: [{ path: '/cents', max }] });

function decided(
  rows: readonly Partial<Rule>[],
  calls: Calls,
  otherwise: 'allow' | 'deny' = 'deny',
) {
  const rules = rows.map((row, index) => ({
    id: `r${index}`,
    effect: 'allow' as const,
    actions: ['pay'],
    ...row,
  }));
  return ruleTable({ id: 't', rules, otherwise }).evaluate({
    action: 'pay',
    role: { name: 'clerk', params: {} },
    args: { cents: 1_000_000 },
    scopes: [],
    principal: 'agent:a',
    writ_id: 'f'.repeat(64),
    trajectory_id: 't',
    at: '2026-01-01T00:00:00.000000Z',
    ...(calls === undefined ? {} : { calls }),
  });
}

const decisionOf = (calls: readonly CallPattern[], effect: Verdict, given: Calls): Verdict =>
  decided([{ effect, calls }], given, effect === 'allow' ? 'deny' : 'allow').decision;

describe('a row with calls', () => {
  test.each<[string, CallPattern[], Calls, { allow: boolean; others: boolean }]>([
    ['a matching call', [over(5)], [pay(5)], { allow: true, others: true }],
    ['another input', [over(5)], [pay(4)], NEITHER],
    ['another tool', [over(5)], [mail], NEITHER],
    ['one of two calls', [over(5)], [pay(4), pay(5)], { allow: false, others: true }],
    ['a call next to another tool', [over(5)], [mail, pay(5)], { allow: false, others: true }],
    ['both calls', [over(5)], [pay(5), pay(6)], { allow: true, others: true }],
    [
      'a pattern for each call',
      [over(5), { tool: 'mail.send' }],
      [mail, pay(5)],
      { allow: true, others: true },
    ],
    ['two patterns for one call', [over(5), upTo(5)], [pay(5)], { allow: true, others: true }],
    ['no calls', [over(5)], [], NEITHER],
    ['calls that the query does not have', [{ tool: '**' }], undefined, NEITHER],
    ['all tools', [{ tool: '**' }], [mail, pay(1)], { allow: true, others: true }],
    ['a group', [{ tool: 'bank.*' }], [pay(1)], { allow: true, others: true }],
    [
      'a tool whose name begins so',
      [{ tool: 'bank.pay' }],
      [{ tool: 'bank.pay_all', input: {} }],
      NEITHER,
    ],
    [
      'a group whose name begins so',
      [{ tool: 'bank.*' }],
      [{ tool: 'banks.pay', input: {} }],
      NEITHER,
    ],
    ['no patterns and no calls', [], [], { allow: true, others: true }],
    ['no patterns and a call', [], [mail], NEITHER],
  ])('%s', (_what, patterns, calls, { allow, others }) => {
    expect(decisionOf(patterns, 'allow', calls)).toBe(allow ? 'allow' : 'deny');
    for (const effect of ['deny', 'needs_approval'] as const)
      expect(decisionOf(patterns, effect, calls)).toBe(others ? effect : 'allow');
  });

  test('the order of calls and patterns changes nothing', () => {
    for (const calls of [
      [mail, pay(5)],
      [pay(5), mail],
    ]) {
      for (const patterns of [
        [over(5), { tool: 'mail.send' }],
        [{ tool: 'mail.send' }, over(5)],
      ])
        expect(decisionOf(patterns, 'allow', calls)).toBe('allow');
    }
  });

  test('a denied call wins over the allowed ones, and its row is named', () => {
    const rows = [{ calls: [{ tool: '**' }] }, { effect: 'deny' as const, calls: [over(1_000)] }];
    expect(decided(rows, [pay(1), pay(1_000)])).toMatchObject({
      decision: 'deny',
      rule: 'r1',
      errors: [],
    });
    expect(decided(rows, [pay(1), pay(999)])).toMatchObject({ decision: 'allow', rule: 'r0' });
  });

  test('also has to match by its arguments, roles and principals', () => {
    const calls = [over(5)];
    expect(decided([{ calls, where: [{ path: '/cents', max: 9 }] }], [pay(5)]).decision).toBe(
      'deny',
    );
    expect(decided([{ calls, roles: ['teller'] }], [pay(5)]).decision).toBe('deny');
    expect(decided([{ calls, principals: ['agent:b'] }], [pay(5)]).decision).toBe('deny');
    expect(
      decided([{ calls, roles: ['clerk'], where: [{ path: '/cents', min: 9 }] }], [pay(5)])
        .decision,
    ).toBe('allow');
  });

  test('rows without calls ignore the calls', () => {
    for (const calls of [undefined, [], [pay(5)]])
      expect(decided([{}], calls).decision).toBe('allow');
  });
});

describe('a call that cannot be tested denies', () => {
  test.each<[string, CallPattern[], Exclude<Calls, undefined>, string]>([
    [
      'a missing member',
      [over(5)],
      [{ tool: 'bank.pay', input: {} }],
      'the argument at /cents is missing',
    ],
    ['a text for a number', [over(5)], [pay('5')], 'the argument at /cents is not a number'],
    [
      'an input of another shape',
      [over(5)],
      [{ tool: 'bank.pay', input: [5] }],
      'the whole value is a list',
    ],
    [
      'a tool with a star',
      [{ tool: '**' }],
      [{ tool: 'bank.*', input: {} }],
      'this is not the name of a tool',
    ],
    [
      'a tool without a name',
      [{ tool: '**' }],
      [{ tool: '', input: {} }],
      'this is not the name of a tool',
    ],
  ])('%s', (_what, patterns, calls, problem) => {
    for (const effect of ['allow', 'deny', 'needs_approval'] as const) {
      for (const given of [calls, [pay(7), ...calls], [...calls, pay(7)]]) {
        const { decision, errors } = decided([{ effect, calls: patterns }, {}], given, 'allow');
        expect([decision, errors]).toEqual(['deny', [expect.stringContaining(problem)]]);
        expect(errors[0]).toMatch(/^rule r0: the call of "/);
      }
    }
  });

  test('unless a condition before it, or the tool, ends the pattern', () => {
    const guarded = {
      tool: 'bank.*',
      where: [{ path: '/cents', exists: true }, ...over(5).where!],
    };
    const empty = [{ tool: 'bank.pay', input: {} }];
    expect(decided([{}, { effect: 'deny', calls: [guarded] }], empty)).toMatchObject({
      decision: 'allow',
      errors: [],
    });
    expect(decided([{}, { effect: 'deny', calls: [over(5)] }], [mail])).toMatchObject({
      decision: 'allow',
      errors: [],
    });
  });

  test('calls of another form deny', () => {
    for (const calls of [null, 1, [null], ['bank.pay'], [{ input: {} }], { 0: pay(5) }])
      expect(decided([{ calls: [{ tool: '**' }] }], calls as never, 'allow').decision).toBe('deny');
  });
});

describe('the table', () => {
  const table = (rule: object) => ({
    id: 't',
    rules: [{ id: 'r', effect: 'deny', actions: ['pay'], ...rule }],
    otherwise: 'allow',
  });

  test.each<[string, unknown, string]>([
    ['calls that are not a list', { tool: 'bank.pay' }, '/rules/0/calls'],
    ['a name instead of a pattern', ['bank.pay'], '/rules/0/calls/0'],
    ['no tool', [{ where: [] }], '/rules/0/calls/0/tool'],
    ['a tool that is not a string', [{ tool: 1 }], '/rules/0/calls/0/tool'],
    ['a name with a star in it', [{ tool: 'bank.p*' }], '/rules/0/calls/0/tool'],
    ['a pattern of the other grammar', [{ tool: 'bank:*' }], '/rules/0/calls/0/tool'],
    ['one star', [{ tool: '*' }], '/rules/0/calls/0/tool'],
    ['an unknown member', [{ tool: '**', input: {} }], '/rules/0/calls/0/input'],
    ['conditions that are not a list', [{ tool: '**', where: {} }], '/rules/0/calls/0/where'],
    [
      'a condition without a test',
      [{ tool: '**', where: [{ path: '' }] }],
      '/rules/0/calls/0/where/0',
    ],
    [
      'a path that is not a pointer',
      [{ tool: '**', where: [{ path: 'a', is: 1 }] }],
      '/rules/0/calls/0/where/0/path',
    ],
  ])('is refused with %s', (_what, calls, pointer) => {
    expect(() => parseRuleTable(table({ calls }))).toThrowError(
      expect.objectContaining({
        code: 'bad_input',
        message: expect.stringContaining('rule table'),
        evidence: expect.objectContaining({ pointer }),
      }),
    );
  });

  test('has a digest with its calls, and without calls the digest of before', () => {
    const digests = [
      {},
      { calls: [] },
      { calls: [{ tool: '**' }] },
      { calls: [{ tool: '**', where: [] }] },
    ].map((rule) => ruleTable(parseRuleTable(table(rule))).digest);
    expect(new Set(digests).size).toBe(digests.length);
    expect(digests[0]).toBe(contentHash({ engine: 'assize/rule-table/v4', table: table({}) }));
  });
});
