import { expect, test } from 'vitest';
import { beginning } from './beginning.ts';

test.each([
  ['DE 17 0001', 10, 'DE 17 0001'],
  ['DE 17 0001', 9, 'DE 17'],
  ['DE 17 0001', 5, 'DE 17'],
  ['DE 17 0001', 4, 'DE'],
  ['Wuppertal', 4, 'Wupp'],
  ['😀😀😀', 2, '😀😀'],
  ['', 4, ''],
])('the label of %j in %i letters is %j', (text, letters, label) => {
  expect(beginning(text, letters)).toBe(label);
});
