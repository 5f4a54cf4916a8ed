import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '#base';
import { contentHash } from '#canon';
import { cases } from '../../../../tests/support/cases.ts';
import { AuthorityError } from './errors.ts';
import type { PolicyQuery, Verdict } from './policy.ts';
import { parseRuleTable } from './read-rule-table.ts';
import type { Condition, Rule, RuleTable } from './rule.ts';
import { ruleTable } from './rule-table.ts';

function ask(change: Partial<PolicyQuery> = {}): PolicyQuery {
  return {
    action: 'spend',
    role: { name: 'spender', params: {} },
    args: {},
    scopes: [],
    principal: 'alice@example.com',
    writ_id: 'f'.repeat(64),
    trajectory_id: 't1',
    at: '2026-01-01T00:00:00.000000Z',
    ...change,
  };
}

function table(...rules: Partial<Rule>[]): RuleTable {
  const full = rules.map((rule, index) => ({
    id: `r${index}`,
    effect: 'allow' as const,
    actions: ['**'],
    ...rule,
  }));
  return { id: 'test', rules: full, otherwise: 'deny' };
}

describe('which rule decides', () => {
  test('deny over needs_approval over allow in any order; its first is named', () => {
    const effects: Verdict[] = ['allow', 'deny', 'needs_approval'];
    const rows = fc.array(
      fc.record({
        effect: fc.constantFrom(...effects),
        actions: fc.constantFrom(['spend'], ['book:*'], ['**']),
      }),
    );
    fc.assert(
      fc.property(rows, fc.constantFrom('spend', 'book:a', 'x:y:z'), (rules, action) => {
        const applied = rules
          .map((rule, index) => ({ ...rule, id: `r${index}` }))
          .filter(
            ({ actions }) =>
              actions[0] === '**' ||
              actions[0] === action ||
              (actions[0] === 'book:*' && action === 'book:a'),
          );
        const winner =
          applied.find(({ effect }) => effect === 'deny') ??
          applied.find(({ effect }) => effect === 'needs_approval') ??
          applied.find(({ effect }) => effect === 'allow');
        const decision = ruleTable(table(...rules)).evaluate(ask({ action }));
        expect(decision.decision).toBe(winner?.effect ?? 'deny');
        expect(decision.rule).toBe(winner?.id);
        expect(decision.errors).toEqual([]);
      }),
      { numRuns: cases(1_000) },
    );
  });

  test('otherwise decides when no row applies', () => {
    for (const otherwise of ['allow', 'deny'] as const) {
      const decision = ruleTable({ ...table({ actions: ['other'] }), otherwise }).evaluate(ask());
      expect(decision).toEqual({ decision: otherwise, reasons: ['No rule applies.'], errors: [] });
    }
  });

  test('because is the reason', () => {
    expect(ruleTable(table({ because: 'All may spend.' })).evaluate(ask()).reasons).toEqual([
      'All may spend.',
    ]);
  });

  test('principals and roles narrow a row', () => {
    const policy = ruleTable(
      table({ principals: ['agent:*', 'alice@example.com'], roles: ['spender'] }),
    );
    expect(policy.evaluate(ask()).decision).toBe('allow');
    expect(policy.evaluate(ask({ principal: 'agent:7' })).decision).toBe('allow');
    expect(policy.evaluate(ask({ principal: 'agent:7:8' })).decision).toBe('deny');
    expect(policy.evaluate(ask({ role: { name: 'auditor', params: {} } })).decision).toBe('deny');
  });

  test('an allow row must contain every scope, a deny row meets one of them', () => {
    const policy = ruleTable(
      table({ scopes: ['fs:/repo/**'] }, { effect: 'deny', scopes: ['fs:/repo/secret/**'] }),
    );
    const decide = (...scopes: string[]) => policy.evaluate(ask({ scopes })).rule ?? 'otherwise';
    expect(decide('fs:/repo/a')).toBe('r0');
    expect(decide('FS:/repo/a', 'fs:/repo/b/c')).toBe('r0');
    expect(decide('fs:/repo/a', 'fs:/etc')).toBe('otherwise');
    expect(decide('fs:/repo/a', 'fs:/repo/secret/key')).toBe('r1');
    // A pattern that reaches into a denied resource is denied too.
    expect(decide('fs:/repo/**')).toBe('r1');
    expect(decide('fs:**')).toBe('r1');
  });
});

describe('conditions', () => {
  const args: Json = {
    amount: 50,
    currency: 'usd',
    to: { 'a/b': [1, { deep: null }] },
    path: 'fs:/repo/x',
    star: 'fs:/**',
    none: null,
  };

  test.each<[Omit<Condition, 'path'> & { path: string }, boolean]>([
    [{ path: '/amount', is: 50 }, true],
    [{ path: '/amount', is: '50' }, false],
    [{ path: '/amount', not: 51 }, true],
    [{ path: '/amount', min: 50 }, true],
    [{ path: '/amount', min: 50.5 }, false],
    [{ path: '/amount', max: 50 }, true],
    [{ path: '/amount', max: 49 }, false],
    [{ path: '/amount', min: 1, max: 49 }, false],
    [{ path: '/currency', in: ['eur', 'usd'] }, true],
    [{ path: '/currency', in: [] }, false],
    [{ path: '/currency', not_in: ['usd'] }, false],
    [{ path: '/to/a~1b/1', is: { deep: null } }, true],
    [{ path: '/to/a~1b', is: [1, { deep: null }] }, true],
    [{ path: '/none', exists: true }, true],
    [{ path: '/none', is: null }, true],
    [{ path: '/absent', exists: false }, true],
    [{ path: '/absent', exists: true }, false],
    [{ path: '/toString', exists: false }, true],
    [{ path: '/__proto__', exists: false }, true],
    [{ path: '/absent', exists: true, min: 3 }, false],
    [{ path: '/path', matches: 'fs:/repo/**' }, true],
    [{ path: '/path', matches: 'fs:/repository/**' }, false],
    [{ path: '', is: args }, true],
  ])('%j: %s', (condition, expected) => {
    const decision = ruleTable(table({ where: [condition] })).evaluate(ask({ args }));
    expect(decision.errors).toEqual([]);
    expect(decision.decision).toBe(expected ? 'allow' : 'deny');
  });

  test.each([
    ['/to/a~1b/01', '/to/a~1b is a list'],
    ['/to/a~1b/length', '/to/a~1b is a list'],
    ['/currency/0', '/currency has no fields'],
    ['/to/0', '/to is not a list'],
    ['/0/name', 'the whole value is not a list'],
  ])('%s does not exist: a denial there cannot be bypassed by another shape', (path, problem) => {
    for (const effect of ['allow', 'deny'] as const) {
      const rules = [
        { id: 'r0', effect, actions: ['**'], where: [{ path, exists: true, is: 'eve' }] },
        { id: 'rest', effect: 'allow' as const, actions: ['**'] },
      ];
      const decision = ruleTable({ id: 't', rules, otherwise: 'deny' }).evaluate(ask({ args }));
      expect(decision).toMatchObject({
        decision: 'deny',
        errors: [`rule r0: the path ${path} does not exist: ${problem}`],
      });
    }
  });

  test.each<[string, Condition]>([
    ['an absent argument', { path: '/absent', is: 1 }],
    ['an absent argument for not', { path: '/absent', not: 1 }],
    ['a text for min', { path: '/currency', min: 1 }],
    ['null for max', { path: '/none', max: 1 }],
    ['a number for matches', { path: '/amount', matches: '**' }],
    ['a star in what is matched', { path: '/star', matches: '**' }],
  ])('%s is an error, and an error denies regardless of other rules', (_what, condition) => {
    for (const effect of ['allow', 'deny', 'needs_approval'] as const) {
      const policy = ruleTable({
        ...table({ effect, where: [condition] }, {}),
        otherwise: 'allow',
      });
      const decision = policy.evaluate(ask({ args }));
      expect(decision.decision).toBe('deny');
      expect(decision.errors).toEqual([expect.stringContaining('rule r0:')]);
    }
  });

  test('a condition before it can guard an optional argument', () => {
    const where = [
      { path: '/amount', exists: true },
      { path: '/amount', min: 1000 },
    ];
    const policy = ruleTable(table({}, { effect: 'deny', where }));
    expect(policy.evaluate(ask())).toMatchObject({ decision: 'allow', errors: [] });
    expect(policy.evaluate(ask({ args: { amount: 1000 } })).decision).toBe('deny');
  });

  test('a value in place of a list passes no guard; a field named so counts', () => {
    const where = [
      { path: '/to/0', exists: true },
      { path: '/to/0/name', is: 'eve' },
    ];
    const policy = ruleTable(table({}, { effect: 'deny', where }));
    const decided = (to: Json): Verdict => policy.evaluate(ask({ args: { to } })).decision;
    for (const to of [{ name: 'eve' }, [{ name: 'eve' }], { 0: { name: 'eve' } }, 'eve'])
      expect(decided(to)).toBe('deny');
    for (const to of [[], [{ name: 'ada' }], { 0: { name: 'ada' } }])
      expect(decided(to)).toBe('allow');
  });

  test('a row with another action is not evaluated', () => {
    const where = [{ path: '/absent', is: 1 }];
    expect(
      ruleTable(table({}, { actions: ['other'], effect: 'deny', where })).evaluate(ask()),
    ).toMatchObject({
      decision: 'allow',
      errors: [],
    });
  });
});

describe('never fails open', () => {
  test.each<[string, Partial<PolicyQuery>]>([
    ['an action that is not a name', { action: 'a::b' }],
    ['a principal that is not a name', { principal: 'a\\b' }],
    ['an action with a star', { action: '**' }],
    ['a principal with a star', { principal: '*' }],
    ['a scope that is not a name', { scopes: ['fs:/a/../b'] }],
  ])('%s denies under a table that allows all', (_what, change) => {
    const deny = { effect: 'deny' as const, principals: ['mallory'], scopes: ['fs:/b'] };
    const policy = ruleTable({
      ...table({}, { effect: 'deny', scopes: ['fs:/b'] }, deny),
      otherwise: 'allow',
    });
    const decision = policy.evaluate(ask(change));
    expect(decision.decision).toBe('deny');
    expect(decision.errors).not.toHaveLength(0);
  });

  test('is total over generated tables and queries', () => {
    const condition = fc.record(
      {
        path: fc.constantFrom('/a', '/b/0', ''),
        is: fc.jsonValue(),
        min: fc.integer(),
        matches: fc.constantFrom('a:*', '**'),
        exists: fc.boolean(),
      },
      { requiredKeys: ['path', 'is'] },
    );
    const rules = fc.array(
      fc.record({
        effect: fc.constantFrom<Verdict>('allow', 'deny', 'needs_approval'),
        where: fc.array(condition as fc.Arbitrary<Condition>, { maxLength: 2 }),
      }),
      { maxLength: 4 },
    );
    const odd = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a', 'a:b', '*', '..'));
    fc.assert(
      fc.property(
        rules,
        fc.jsonValue(),
        odd,
        odd,
        fc.array(odd, { maxLength: 2 }),
        (given, args, action, principal, scopes) => {
          let policy: ReturnType<typeof ruleTable>;
          try {
            policy = ruleTable(table(...given));
          } catch (error) {
            expect(error).toBeInstanceOf(AuthorityError);
            return;
          }
          const query = ask({ action, principal, scopes, args: args as Json });
          const decision = policy.evaluate(query);
          expect(policy.evaluate(query)).toEqual(decision);
          if (decision.errors.length > 0) expect(decision.decision).toBe('deny');
          if (decision.decision === 'allow')
            expect(given.some(({ effect }) => effect === 'allow')).toBe(true);
        },
      ),
      { numRuns: cases(1_000) },
    );
  });
});

describe('the digest', () => {
  const given = table({ scopes: ['FS:/a'], where: [{ path: '/x', is: 1 }] });

  test('is the hash of the parsed table, independent of field order', () => {
    const { digest } = ruleTable(given);
    expect(digest).toBe(
      contentHash({ engine: 'assize/rule-table/v4', table: parseRuleTable(given) }),
    );
    const turned = JSON.parse(
      JSON.stringify(given, [
        'otherwise',
        'rules',
        'where',
        'is',
        'path',
        'scopes',
        'actions',
        'effect',
        'id',
      ]),
    );
    expect(ruleTable(turned).digest).toBe(digest);
  });

  test('differs with every member that decides', () => {
    const others = [
      { ...given, id: 'other' },
      { ...given, otherwise: 'allow' as const },
      { ...given, rules: [] },
      table({ scopes: ['fs:/a'], where: [{ path: '/x', is: 2 }] }),
      table({ scopes: ['fs:/b'], where: [{ path: '/x', is: 1 }] }),
      table({ effect: 'deny', scopes: ['fs:/a'], where: [{ path: '/x', is: 1 }] }),
    ];
    const digests = [given, ...others].map((other) => ruleTable(other).digest);
    expect(new Set(digests).size).toBe(digests.length);
  });

  test('a table changed after it was read changes neither digest nor rulings', () => {
    const mutable = structuredClone(given) as { rules: { effect: string }[] } & RuleTable;
    const policy = ruleTable(mutable);
    (mutable.rules[0] as { effect: string }).effect = 'deny';
    expect(policy.digest).toBe(ruleTable(given).digest);
    expect(policy.evaluate(ask({ args: { x: 1 } })).decision).toBe('allow');
  });
});

describe('parseRuleTable refuses', () => {
  const rule = { id: 'r', effect: 'allow', actions: ['a'] };
  test.each<[string, unknown, string]>([
    ['null', null, ''],
    ['a list', [], ''],
    [
      'a member it does not know',
      { id: 't', rules: [], otherwise: 'deny', version: 1 },
      '/version',
    ],
    ['no otherwise', { id: 't', rules: [] }, '/otherwise'],
    [
      'needs_approval for otherwise',
      { id: 't', rules: [], otherwise: 'needs_approval' },
      '/otherwise',
    ],
    ['no rules', { id: 't', otherwise: 'deny' }, '/rules'],
    ['no id', { rules: [], otherwise: 'deny' }, '/id'],
    [
      'a rule with a member it does not know',
      { id: 't', rules: [{ ...rule, unless: [] }], otherwise: 'deny' },
      '/rules/0/unless',
    ],
    [
      'a rule without an effect',
      { id: 't', rules: [{ id: 'r', actions: ['a'] }], otherwise: 'deny' },
      '/rules/0/effect',
    ],
    [
      'a rule without actions',
      { id: 't', rules: [{ id: 'r', effect: 'deny' }], otherwise: 'deny' },
      '/rules/0/actions',
    ],
    [
      'an empty list of actions',
      { id: 't', rules: [{ ...rule, actions: [] }], otherwise: 'deny' },
      '/rules/0/actions',
    ],
    [
      'a bad pattern',
      { id: 't', rules: [{ ...rule, actions: ['a*'] }], otherwise: 'deny' },
      '/rules/0/actions/0',
    ],
    [
      'an empty list of principals',
      { id: 't', rules: [{ ...rule, principals: [] }], otherwise: 'deny' },
      '/rules/0/principals',
    ],
    [
      'a bad scope',
      { id: 't', rules: [{ ...rule, scopes: ['fs:/a/..'] }], otherwise: 'deny' },
      '/rules/0/scopes/0',
    ],
    ['two rules of one id', { id: 't', rules: [rule, rule], otherwise: 'deny' }, '/rules/1/id'],
    [
      'a condition without a test',
      { id: 't', rules: [{ ...rule, where: [{ path: '/a' }] }], otherwise: 'deny' },
      '/rules/0/where/0',
    ],
    [
      'a condition without a path',
      { id: 't', rules: [{ ...rule, where: [{ is: 1 }] }], otherwise: 'deny' },
      '/rules/0/where/0/path',
    ],
    [
      'a path that is not a pointer',
      { id: 't', rules: [{ ...rule, where: [{ path: 'a', is: 1 }] }], otherwise: 'deny' },
      '/rules/0/where/0/path',
    ],
    [
      'a path with a stray ~',
      { id: 't', rules: [{ ...rule, where: [{ path: '/~2', is: 1 }] }], otherwise: 'deny' },
      '/rules/0/where/0/path',
    ],
    [
      'a regular expression',
      { id: 't', rules: [{ ...rule, where: [{ path: '/a', regex: '.*' }] }], otherwise: 'deny' },
      '/rules/0/where/0/regex',
    ],
    [
      'a text for min',
      { id: 't', rules: [{ ...rule, where: [{ path: '/a', min: '1' }] }], otherwise: 'deny' },
      '/rules/0/where/0/min',
    ],
    [
      'a value for in',
      { id: 't', rules: [{ ...rule, where: [{ path: '/a', in: 1 }] }], otherwise: 'deny' },
      '/rules/0/where/0/in',
    ],
    [
      'a bad pattern to match',
      { id: 't', rules: [{ ...rule, where: [{ path: '/a', matches: '' }] }], otherwise: 'deny' },
      '/rules/0/where/0/matches/0',
    ],
    ['what is not JSON', { id: 't', rules: [() => 1], otherwise: 'deny' }, ''],
  ])('%s', (_what, value, pointer) => {
    expect(() => parseRuleTable(value)).toThrowError(
      expect.objectContaining({
        name: 'AuthorityError',
        code: 'bad_input',
        message: expect.stringContaining('rule table'),
        evidence: expect.objectContaining({ pointer }),
      }),
    );
  });
});
