import { expect, test } from 'vitest';
import { grouped } from './grouped.ts';

test('hooks of one text are shown once, with the names of their events', () => {
  expect(
    grouped([
      '+ env: 1',
      '- hooks.A: [1]',
      '+ hooks.A: [2]',
      '+ hooks.B: [2]',
      '+ hooks.C: [3]',
      '+ hooks.D: [2]',
    ]),
  ).toEqual([
    '+ env: 1',
    '- hooks.A: [1]',
    '+ hooks.A: [2]',
    '+ and the same for B, D',
    '+ hooks.C: [3]',
  ]);
});
