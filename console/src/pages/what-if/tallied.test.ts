import { expect, test } from 'vitest';
import { tallied, type VerdictDifference } from './tallied.ts';

const difference = (action: string, recorded: string, now: string) =>
  ({ action, recorded: { ruling: recorded }, now: { ruling: now } }) as VerdictDifference;

test('differences are counted by action and rulings, the largest count first', () => {
  const found = tallied([
    difference('pay', 'committed', 'rejected'),
    difference('tip', 'committed', 'escalated'),
    difference('tip', 'committed', 'escalated'),
  ]);
  expect(found.map(({ key, count }) => [key, count])).toEqual([
    ['tip:committed:escalated', 2],
    ['pay:committed:rejected', 1],
  ]);
});
