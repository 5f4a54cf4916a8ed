import fc from 'fast-check';
import { expect, test } from 'vitest';
import { recallOf } from './recall-of.ts';

const SINCE = '2026-01-01T00:00:00.000000Z';

test('a recall has its space, its key and the versions that it returned', () => {
  const query = { space: 'crm', subject: 'ada', predicate: 'phone', kind: 'current' };
  const key = { subject: 'ada', predicate: 'phone' };
  expect(recallOf({ name: 'recall', value: { query, rows: [['f1', SINCE]] } })).toEqual({
    ...{ space: 'crm', count: 1, versions: [{ fact: 'f1', since: SINCE, key }] },
  });
  const rows = Array.from({ length: 12 }, (_, n) => [`f${n}`, SINCE]);
  const many = recallOf({ name: 'recall', value: { query: { space: 'crm' }, rows } });
  expect([many?.count, many?.versions.length, many?.versions[0]?.key]).toEqual([12, 10, {}]);
});

test('a value of any form is a recall or none', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      for (const given of [
        value,
        { query: value, rows: value },
        { query: { space: 's' }, rows: [value] },
      ])
        expect(() => recallOf({ name: 'recall', value: given })).not.toThrow();
      expect(
        recallOf({ name: 'price', value: { query: { space: 's' }, rows: [] } }),
      ).toBeUndefined();
    }),
  );
});
