import { expect, test } from 'vitest';
import { marksOf } from './marks.ts';

test('computed keys, patterns and constants are marked with their lines', async () => {
  const text = `const a = (state) => {
  // é and 😀 count as the characters they are
  if (state.funds === 77 || state.name == 'x') state.limits[state.name] = { [state.name]: 1 };
  return /^a+$/.test(state.name) && state.list[0] > state.low;
};`;
  expect(await marksOf(text)).toEqual([
    { line: 3, kind: 'constant', source: 'state.funds === 77' },
    { line: 3, kind: 'constant', source: "state.name == 'x'" },
    { line: 3, kind: 'computed key', source: 'state.limits[state.name]' },
    { line: 3, kind: 'computed key', source: '[state.name]' },
    { line: 4, kind: 'pattern', source: '/^a+$/' },
  ]);
});

test('a text that is not a module has the marks of its parts', async () => {
  expect(await marksOf('a[b] ===')).toMatchObject([{ line: 1, kind: 'computed key' }]);
  expect(await marksOf('')).toEqual([]);
});
