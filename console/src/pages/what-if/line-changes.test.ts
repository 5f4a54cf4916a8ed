import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changedLines } from './line-changes.ts';

const lines = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 9 });

test('the changes make the second text of the first', () => {
  fc.assert(
    fc.property(lines, lines, (a, b) => {
      const changes = changedLines(a.join('\n'), b.join('\n'));
      const only = (sign: string) => changes.filter((one) => one.sign === sign).length;
      // Both texts keep the same number of lines, and none of an equal text changes.
      expect(a.length - only('-') - (a.length === 0 ? -1 : 0)).toBe(
        b.length - only('+') - (b.length === 0 ? -1 : 0),
      );
      if (a.join() === b.join()) expect(changes).toEqual([]);
    }),
  );
});

test('a changed line is a lost one and a new one, and others stay', () => {
  expect(changedLines('id: a\nask: x\nend', 'id: a\nask: y\nend')).toEqual([
    { sign: '-', line: 'ask: x' },
    { sign: '+', line: 'ask: y' },
  ]);
});
