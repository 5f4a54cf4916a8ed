import { covers } from 'assize/internal/authority/grammar.ts';
import { expect, test } from 'vitest';
import { matches, unmatched } from './unmatched.ts';

test('a rule for an action that no domain has is found', () => {
  const table = {
    id: 't',
    rules: [
      { id: 'a', actions: ['fly', 'file'] },
      { id: 'b', actions: ['**'] },
    ],
  };
  expect(unmatched(table, ['file', 'pay'])).toEqual([{ rule: 'a', pattern: 'fly' }]);
});

test('the actions of the runtime are known, and any JSON is read', () => {
  expect(unmatched({ rules: [{ id: 'a', actions: ['assize.halt', 1] }, null, 2] }, [])).toEqual([]);
  for (const table of [null, 3, [], { rules: {} }, { rules: [{}] }])
    expect(unmatched(table, ['x'])).toEqual([]);
});

test('a pattern matches as in writs', () => {
  const names = ['pay', 'bank:pay', 'bank:pay:late', 'fs:/repo', 'fs:/repo/src'];
  const patterns = [
    ...names,
    '*',
    '**',
    'bank:*',
    'bank:**',
    'fs:/*',
    'fs:/**',
    'fs:/repo/**',
    'fs:**',
    '*:*',
    'x',
  ];
  for (const pattern of patterns)
    for (const name of names)
      expect([pattern, name, matches(pattern, name)]).toEqual([
        pattern,
        name,
        covers(pattern, name),
      ]);
});
