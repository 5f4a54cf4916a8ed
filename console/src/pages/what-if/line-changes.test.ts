import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changedLines, type LineChange } from './line-changes.ts';

const lines = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 9 });

test('the changes make the second text of the first', () => {
  fc.assert(
    fc.property(lines, lines, (a, b) => {
      const [before, after] = [a.join('\n'), b.join('\n')];
      const changes = changedLines(before, after);
      expect(makes(changes, before.split('\n'), after.split('\n'))).toBe(true);
      if (before === after) expect(changes).toEqual([]);
    }),
  );
});

/** Whether the changes in their order, with lines that stay between them, make `b` of `a`. */
function makes([change, ...later]: readonly LineChange[], a: string[], b: string[]): boolean {
  if (change === undefined) return a.join() === b.join();
  const { sign, line } = change;
  const [restA, restB] = [a.slice(1), b.slice(1)];
  if (sign === '-' && line === a[0] && makes(later, restA, b)) return true;
  if (sign === '+' && line === b[0] && makes(later, a, restB)) return true;
  return a.length > 0 && a[0] === b[0] && makes([change, ...later], restA, restB);
}

test('a changed line is a lost one and a new one, and others stay', () => {
  expect(changedLines('id: a\nask: x\nend', 'id: a\nask: y\nend')).toEqual([
    { sign: '-', line: 'ask: x' },
    { sign: '+', line: 'ask: y' },
  ]);
});
