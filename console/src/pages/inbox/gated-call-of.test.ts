import { expect, test } from 'vitest';
import { askedAs, gatedCallOf, namedAction } from './gated-call-of.ts';

test('a call of the gateway is recognised by its form, and nothing else is', () => {
  const call = { server: 'bank', tool: 'pay', args: { cents: 5 } };
  expect(gatedCallOf('call', call)).toBe(call);
  expect(gatedCallOf('pay', call)).toBeUndefined();
  for (const other of [
    undefined,
    null,
    'call',
    { server: 'bank' },
    { ...call, args: null },
    { ...call, tool: 5 },
  ])
    expect(gatedCallOf('call', other)).toBeUndefined();
});

test('a call of the gateway is named by its tool', () => {
  const args = { id: 'c', server: 'bank', tool: 'pay', args: { cents: 5 } };
  expect(namedAction({ name: 'call', args })).toEqual({ name: 'bank/pay', args: { cents: 5 } });
  expect(namedAction({ name: 'pay', args })).toEqual({ name: 'pay', args });
  expect(namedAction({ name: 'call' })).toEqual({ name: 'call', args: undefined });
});

test('a proposal shows its role, and a call of the gateway does not', () => {
  const clerk = { name: 'clerk', params: { desk: 'a' } };
  expect(askedAs({ is_gated: true, role: clerk })).toBe('');
  expect(askedAs({ is_gated: false, role: clerk })).toBe(' as clerk (desk: a)');
});
