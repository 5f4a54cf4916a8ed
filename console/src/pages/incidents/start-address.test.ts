import { expect, test } from 'vitest';
import { incidentsHref, startOf } from './start-address.ts';

test('an address has the start that it was made from', () => {
  for (const start of [
    { principal: 'agent:a&b' },
    { tool: 'bank/pay', since: '2026-03-01T00:00:00.000000Z' },
    { entry: 'a'.repeat(64), until: '2026-03-01T00:00:00.000000Z' },
  ])
    expect(startOf(new URL(incidentsHref(start), 'http://localhost').searchParams)).toEqual(start);
});

test('an address without a name has no start', () => {
  expect(startOf(new URLSearchParams('since=2026-03-01T00:00:00.000000Z'))).toBeUndefined();
  expect(startOf(new URLSearchParams('entry='))).toBeUndefined();
});
