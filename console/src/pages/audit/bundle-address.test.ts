import { expect, test } from 'vitest';
import { type BundleAddress, isBackwards, type Kind, scopeOf } from './bundle-address.ts';

const EARLY = '2026-03-01T09:00:00.000000Z';
const LATE = '2026-03-01T09:00:01.000000Z';

const address = (kind: Kind, fields: Partial<BundleAddress>): BundleAddress => ({
  ...{ kind, set: () => undefined },
  ...fields,
});

test.each(['period', 'person'] as const)(
  'a period of the scope %s must have a time in it',
  (kind) => {
    const person = kind === 'person' ? { person: 'boss:ada' } : {};
    const of = (from: string, to: string) => address(kind, { from, to, ...person });
    expect(scopeOf(of(EARLY, LATE))).toEqual({ from: EARLY, to: LATE, ...person });
    expect(scopeOf(of(LATE, EARLY))).toBeUndefined();
    expect(scopeOf(of(EARLY, EARLY))).toBeUndefined();
  },
);

test('a period without a start or an end is not backwards', () => {
  for (const fields of [{}, { from: LATE }, { to: EARLY }]) expect(isBackwards(fields)).toBe(false);
  expect(isBackwards({ from: LATE, to: EARLY })).toBe(true);
});

test('times that another scope left in the address change nothing', () => {
  expect(scopeOf(address('entry', { entry: 'main@1', from: LATE, to: EARLY }))).toEqual({
    entry: 'main@1',
  });
});
