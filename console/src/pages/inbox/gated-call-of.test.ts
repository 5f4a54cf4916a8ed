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
  const args = { id: 'c', server: 'bank', tool: 'pay', args: { cents: 5 } };
  const agent = { name: 'agent', params: { agent: 'ada' } };
  expect(askedAs({ name: 'call', role: agent, args })).toBe('');
  expect(askedAs({ name: 'pay', role: { name: 'clerk', params: { desk: 'a' } }, args })).toBe(
    ' as clerk (desk: a)',
  );
});
