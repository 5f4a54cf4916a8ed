import { expect, test } from 'vitest';
import { gatedCallOf } from './gated-call-of.ts';

test('a call of the gateway is recognised by its form, and nothing else is', () => {
  const call = { server: 'bank', tool: 'pay', args: { cents: 5 } };
  expect(gatedCallOf('call', call)).toBe(call);
  expect(gatedCallOf('pay', call)).toBeUndefined();
  for (const other of [undefined, null, 'call', { server: 'bank' }, { ...call, args: null }, { ...call, tool: 5 }])
    expect(gatedCallOf('call', other)).toBeUndefined();
});
