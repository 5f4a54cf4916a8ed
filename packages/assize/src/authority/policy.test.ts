import { describe, expect, test } from 'vitest';
import { failClosedPolicy, type Policy, type PolicyQuery } from './policy.ts';
import { ruleTable } from './rule-table.ts';

const query: PolicyQuery = {
  action: 'spend',
  role: { name: 'spender', params: { agent: 'a' } },
  args: { amount: 5, tags: ['x'] },
  scopes: ['fs:/a'],
  principal: 'alice',
  writ_id: 'f'.repeat(64),
  trajectory_id: 't1',
  at: '2026-01-01T00:00:00.000000Z',
};

function policyOf(evaluate: (query: PolicyQuery) => unknown): Policy {
  return { id: 'p', digest: 'd'.repeat(64), evaluate: evaluate as Policy['evaluate'] };
}

const allowed = { decision: 'allow', rule: 'r1', reasons: ['why'], errors: [] };

describe('safely', () => {
  test('passes a well-formed decision on, with the policy’s id and digest', () => {
    const policy = failClosedPolicy(policyOf(() => ({ ...allowed, extra: 1 })));
    expect(policy).toMatchObject({ id: 'p', digest: 'd'.repeat(64) });
    expect(policy.evaluate(query)).toEqual(allowed);
  });

  test.each<[string, (query: PolicyQuery) => unknown]>([
    [
      'a throw',
      () => {
        throw new Error('down');
      },
    ],
    [
      'a thrown text',
      () => {
        throw 'down';
      },
    ],
    [
      'a throw without UTF-8',
      () => {
        throw new Error('\ud800');
      },
    ],
    [
      'a thrown object without a prototype',
      () => {
        throw Object.create(null);
      },
    ],
    ['a reported error', () => ({ ...allowed, errors: ['type error in r2'] })],
    ['a promise', async () => allowed],
    [
      'a promise that fails',
      async () => {
        throw new Error('later');
      },
    ],
    // biome-ignore lint/suspicious/noThenProperty: it is what is tested
    ['a thenable', () => ({ then: () => allowed })],
    ['nothing', () => undefined],
    ['null', () => null],
    ['true', () => true],
    ['a bare word', () => 'allow'],
    ['another decision', () => ({ ...allowed, decision: 'Allow' })],
    ['no decision', () => ({ reasons: [], errors: [] })],
    ['no reasons', () => ({ decision: 'allow', errors: [] })],
    ['no errors', () => ({ decision: 'allow', reasons: [] })],
    ['a text for errors', () => ({ ...allowed, errors: '' })],
    ['a number for a reason', () => ({ ...allowed, reasons: [1] })],
    ['an empty rule', () => ({ ...allowed, rule: '' })],
    ['a rule that is a number', () => ({ ...allowed, rule: 7 })],
    [
      'a getter that throws',
      () =>
        Object.defineProperty({}, 'decision', {
          get: () => {
            throw new Error('no');
          },
        }),
    ],
    [
      'changing the arguments',
      ({ args }) => {
        (args as { amount: number }).amount = 1;
        return allowed;
      },
    ],
    [
      'changing a nested list',
      ({ args }) => {
        (args as { tags: string[] }).tags.push('y');
        return allowed;
      },
    ],
    [
      'changing the scopes',
      ({ scopes }) => {
        (scopes as string[]).push('fs:/b');
        return allowed;
      },
    ],
  ])('%s denies, says so, and changes nothing', async (_what, evaluate) => {
    const before = structuredClone(query);
    const decision = failClosedPolicy(policyOf(evaluate)).evaluate(query);
    expect(decision.decision).toBe('deny');
    expect(decision.errors).not.toHaveLength(0);
    expect(decision.errors.every((error) => error.isWellFormed())).toBe(true);
    expect(query).toEqual(before);
    // An unhandled promise that rejects later would end the process here.
    await new Promise((resolve) => setImmediate(resolve));
  });

  test('a denial and an approval request stay unchanged', () => {
    for (const decision of ['deny', 'needs_approval']) {
      expect(
        failClosedPolicy(policyOf(() => ({ decision, reasons: [], errors: [] }))).evaluate(query)
          .decision,
      ).toBe(decision);
    }
  });

  test('twice is once, and the rule table needs none', () => {
    const wrapped = failClosedPolicy(policyOf(() => allowed));
    expect(failClosedPolicy(wrapped)).toBe(wrapped);
    const table = ruleTable({ id: 't', rules: [], otherwise: 'deny' });
    expect(failClosedPolicy(table)).toBe(table);
  });

  test('the digest is read once: a policy can’t change it afterwards', () => {
    const policy = { id: 'p', digest: 'one', evaluate: () => allowed } as {
      id: string;
      digest: string;
    } & Policy;
    const wrapped = failClosedPolicy(policy);
    (policy as { digest: string }).digest = 'two';
    expect(wrapped.digest).toBe('one');
  });
});
