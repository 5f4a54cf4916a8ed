import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { segment } from '#authority';
import type { Json } from '#base';
import { ANYONE } from '../../../../../tests/support/models/permissive-authority.ts';
import { defineDomain } from '../domain/define-domain.ts';
import type { Domain } from '../domain/domain.ts';
import { compile, roleScope } from './compile.ts';
import type { Authority, Intent } from './compiled.ts';

function domainWith(action: object = {}): Domain<any, any> {
  return defineDomain<any, any>({
    name: 'shop',
    version: '1',
    state: z.object({ n: z.record(z.string(), z.number()) }),
    processes: { count: { writes: ['/n/{who}'] }, look: { reads: ['/n'] } },
    roles: {
      counter: { params: ['who'], processes: ['count'] },
      reader: { processes: ['look'] },
    },
    actions: {
      count: {
        process: 'count',
        args: z.object({ by: z.number().int(), note: z.string().default('none') }),
        apply: () => {},
        ...action,
      } as never,
    },
    invariants: [],
  });
}

const intent: Intent = {
  action: 'count',
  role: { name: 'counter', params: { who: 'ada' } },
  args: { by: 1 },
};
const refusalOf = (
  given: Partial<Intent>,
  authority: Partial<Authority> = {},
  action: object = {},
): unknown => compile(domainWith(action), { ...intent, ...given }, { ...ANYONE, ...authority });

describe('an intent that compiles', () => {
  test('has its arguments parsed and frozen, and shares nothing with the intent', () => {
    const args = { by: 1, note: 'x' };
    const compiled = refusalOf({ args }) as { args: { by: number } };
    expect(compiled).toMatchObject({ name: 'count', args: { by: 1, note: 'x' }, cost: {} });
    expect(compiled).not.toHaveProperty('policy');
    expect(compiled).not.toHaveProperty('approvalDemand');
    expect(refusalOf({})).toMatchObject({ args: { by: 1, note: 'none' } });
    expect(Object.isFrozen(compiled.args)).toBe(true);
    expect(Object.isFrozen(args)).toBe(false);
  });

  test('gives the writ its role, ordered parameters and the action’s own scopes', () => {
    let asked: unknown;
    const admits: Authority['admits'] = (claim) => {
      asked = claim;
      return { ok: true, needsApproval: false };
    };
    refusalOf(
      { role: { name: 'counter', params: { who: 'a:b/*' } } },
      { admits },
      { scopes: ({ by }: any, { role }: any) => [`${role.who.length}:${by}`] },
    );
    expect(asked).toEqual({ action: 'count', scopes: ['role:counter:a~3ab~2f~2a', '5:1'] });
  });

  test('needs approval by the policy before the writ, with the policy’s reason', () => {
    const policy = { digest: 'd', decision: 'needs_approval' as const };
    expect(
      refusalOf(
        {},
        {
          decides: () => ({ ruling: policy, detail: 'ask someone' }),
          admits: () => ({ ok: true, needsApproval: true }),
        },
      ),
    ).toMatchObject({
      policy,
      approvalDemand: { reason: 'policy_needs_approval', detail: 'ask someone' },
    });
    expect(refusalOf({}, { admits: () => ({ ok: true, needsApproval: true }) })).toMatchObject({
      approvalDemand: { reason: 'writ_requires_approval' },
    });
  });

  test('with recorded arguments is not parsed again', () => {
    const twice = { args: z.number().transform((n) => n + 1) };
    expect(compile(domainWith(twice), { ...intent, args: 1 }, ANYONE)).toMatchObject({ args: 2 });
    expect(
      compile(domainWith(twice), { ...intent, args: 2 }, ANYONE, { parsed: true }),
    ).toMatchObject({ args: 2 });
  });
});

describe('the typed rejections', () => {
  const deny: Partial<Authority> = {
    decides: () => ({ ruling: { digest: 'd', decision: 'deny', rule: 'r' }, detail: 'not today' }),
  };
  const poor: Partial<Authority> = { affords: () => ({ ok: false, detail: 'nothing left' }) };
  const barred: Partial<Authority> = { admits: () => ({ ok: false, detail: 'no writ' }) };

  test.each<[string, string, Partial<Intent>, Partial<Authority>, object, string]>([
    [
      'unknown_tool',
      'an action that there is not',
      { action: 'fly' },
      {},
      {},
      'shop has no action "fly"; it has count',
    ],
    [
      'unknown_tool',
      'a name of the language',
      { action: 'constructor' },
      {},
      {},
      'shop has no action "constructor"',
    ],
    [
      'unknown_tool',
      '__proto__',
      { action: '__proto__' },
      {},
      {},
      'shop has no action "__proto__"',
    ],
    [
      'type_mismatch',
      'a role that there is not',
      { role: { name: 'boss', params: {} } },
      {},
      {},
      'no role "boss"',
    ],
    [
      'type_mismatch',
      'a role named toString',
      { role: { name: 'toString', params: {} } },
      {},
      {},
      'no role "toString"',
    ],
    [
      'type_mismatch',
      'a missing parameter',
      { role: { name: 'counter', params: {} } },
      {},
      {},
      'needs the parameter who',
    ],
    [
      'type_mismatch',
      'an empty parameter',
      { role: { name: 'counter', params: { who: '' } } },
      {},
      {},
      'needs the parameter who',
    ],
    [
      'type_mismatch',
      'a parameter too many',
      { role: { name: 'counter', params: { who: 'ada', as: 'root' } } },
      {},
      {},
      'has no parameter as',
    ],
    [
      'type_mismatch',
      'a second spelling of a name that a writ could not tell from the first',
      { role: { name: 'counter', params: { who: 'e\u0301' } } },
      {},
      {},
      'composed form',
    ],
    ['type_mismatch', 'arguments of another type', { args: { by: 'one' } }, {}, {}, 'args /by: '],
    [
      'type_mismatch',
      'an argument too many',
      { args: { by: 1, and: 2 } },
      {},
      {},
      'args Unrecognized key: "and"',
    ],
    ['type_mismatch', 'no arguments', { args: null }, {}, {}, 'args '],
    [
      'type_mismatch',
      'arguments at which a check of zod stumbles',
      { args: { name: { length: { toString: 1, valueOf: 1 } } } },
      {},
      { args: z.object({ name: z.string().min(1) }) },
      'args cannot be parsed',
    ],
    [
      'type_mismatch',
      'a schema that throws',
      {},
      {},
      {
        args: z.any().transform(() => {
          throw new Error('broken');
        }),
      },
      'args cannot be parsed: broken',
    ],
    [
      'type_mismatch',
      'a schema that makes something that is not JSON',
      { args: '2026-01-01' },
      {},
      { args: z.any().transform(() => new Date(0)) },
      'args cannot be parsed: Only plain objects',
    ],
    [
      'type_mismatch',
      'an asynchronous schema',
      {},
      {},
      { args: z.any().refine(async () => true) },
      'args cannot be parsed',
    ],
    [
      'invalid_authority',
      'a role that does something else',
      { role: { name: 'reader', params: {} } },
      {},
      {},
      'the role reader does not perform count',
    ],
    ['invalid_authority', 'a writ that does not admit it', {}, barred, {}, 'no writ'],
    ['policy_denied', 'a policy that denies it', {}, deny, {}, 'not today'],
    ['budget_exhausted', 'a budget that does not cover it', {}, poor, {}, 'nothing left'],
    [
      'precondition_failed',
      'scopes that throw',
      {},
      {},
      {
        scopes: () => {
          throw new Error('no scope');
        },
      },
      'no scope',
    ],
    [
      'precondition_failed',
      'scopes that are not a list',
      {},
      {},
      { scopes: () => 'fs:/x' },
      'its scopes are not a list',
    ],
    [
      'precondition_failed',
      'scopes that are not strings',
      {},
      {},
      { scopes: () => [1] },
      'its scopes are not a list',
    ],
    [
      'precondition_failed',
      'asynchronous scopes',
      {},
      {},
      { scopes: async () => [] },
      'scopes returned a promise',
    ],
    [
      'precondition_failed',
      'a cost that throws',
      {},
      {},
      {
        cost: () => {
          throw Object.create(null);
        },
      },
      'cannot be read',
    ],
    [
      'precondition_failed',
      'half a unit',
      {},
      {},
      { cost: () => ({ usd: 0.5 }) },
      'its cost in usd is not a whole amount',
    ],
    [
      'precondition_failed',
      'a gain',
      {},
      {},
      { cost: () => ({ usd: -1 }) },
      'its cost in usd is not a whole amount',
    ],
    [
      'precondition_failed',
      'no amount',
      {},
      {},
      { cost: () => ({ usd: Number.NaN }) },
      'not a whole amount',
    ],
    [
      'precondition_failed',
      'a bare amount',
      {},
      {},
      { cost: () => 5 },
      'its cost is not an object of amounts',
    ],
    [
      'precondition_failed',
      'an asynchronous cost',
      {},
      {},
      { cost: async () => ({}) },
      'cost returned a promise',
    ],
    [
      'precondition_failed',
      'a cost that changes its arguments',
      {},
      {},
      {
        cost: (args: any) => {
          args.by = 0;
          return {};
        },
      },
      'read only',
    ],
  ])('%s: %s', (reason, _what, given, authority, action, detail) => {
    expect(refusalOf(given, authority, action)).toMatchObject({
      reason,
      detail: expect.stringContaining(detail),
    });
  });

  test('come in their order: each only when all before it are passed', () => {
    const everything: Partial<Authority> = { ...deny, ...poor, ...barred };
    const wrong = { action: 'fly', role: { name: 'boss', params: {} }, args: null as Json };
    expect(refusalOf(wrong, everything)).toMatchObject({ reason: 'unknown_tool' });
    expect(refusalOf({ ...wrong, action: 'count' }, everything)).toMatchObject({
      reason: 'type_mismatch',
    });
    expect(refusalOf({}, everything)).toMatchObject({ reason: 'invalid_authority' });
    expect(refusalOf({}, { ...deny, ...poor })).toMatchObject({ reason: 'policy_denied' });
    expect(refusalOf({}, poor)).toMatchObject({ reason: 'budget_exhausted' });
  });

  test('report the policy decision if the policy was queried', () => {
    const allow = { digest: 'd', decision: 'allow' as const, rule: 'r' };
    expect(refusalOf({}, deny)).toMatchObject({ policy: { decision: 'deny', rule: 'r' } });
    expect(
      refusalOf({}, { ...poor, decides: () => ({ ruling: allow, detail: '' }) }),
    ).toMatchObject({ policy: allow });
  });
});

test('a role’s scope has grammar segments, so no parameter adds one', () => {
  for (const who of ['ada', 'a:b', '/etc', '..', '*', '**', '~2f', '%2f', 'x\\y', 'tab\t']) {
    const role = { name: 'counter', params: { who } };
    expect(roleScope(domainWith(), role)).toBe(`role:counter:${segment(who)}`);
  }
});
