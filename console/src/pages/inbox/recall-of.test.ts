import fc from 'fast-check';
import { expect, test } from 'vitest';
import { recallOf } from './recall-of.ts';

test('a recall by key leads to its facts, and one by text to the search', () => {
  const rows = [['f1', '2026-01-01T00:00:00.000000Z']];
  const query = { space: 'crm/a', subject: 'ada', predicate: 'phone' };
  const byKey = recallOf('main', { name: 'recall', value: { query, rows } });
  expect(byKey?.href).toBe('/memory/main/crm%2Fa?subject=ada&predicate=phone');
  expect(byKey?.facts[0]?.href).toBe(
    '/memory/main/crm%2Fa?subject=ada&predicate=phone&fact=f1&since=2026-01-01T00%3A00%3A00.000000Z',
  );
  const byText = recallOf('main', { name: 'recall', value: { query: { space: 'crm', text: 'call' }, rows } });
  expect(byText).toEqual({ href: '/memory/main/crm?view=recall&text=call', count: 1, facts: [] });
});

test('a value of any form is a recall or none', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      for (const given of [value, { query: value, rows: value }, { query: { space: 's' }, rows: [value] }])
        expect(() => recallOf('main', { name: 'recall', value: given })).not.toThrow();
      expect(recallOf('main', { name: 'price', value })).toBeUndefined();
    }),
  );
});
