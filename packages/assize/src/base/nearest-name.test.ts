import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nearestName } from './nearest-name.ts';

const NAMES = ['store', 'domains', 'tools', 'policy', 'principals', 'server'];
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];

test('a name with one inserted, removed, replaced or swapped letter is found', () => {
  const edit = fc.record({
    name: fc.constantFrom(...NAMES),
    kind: fc.constantFrom('insert', 'remove', 'replace', 'swap'),
    at: fc.nat({ max: 3 }),
    letter: fc.constantFrom(...LETTERS),
  });
  fc.assert(
    fc.property(edit, ({ name, kind, at, letter }) => {
      const letters = [...name];
      if (kind === 'insert') letters.splice(at, 0, letter);
      if (kind === 'remove') letters.splice(at, 1);
      if (kind === 'replace') letters[at] = letter;
      if (kind === 'swap')
        [letters[at], letters[at + 1]] = [letters[at + 1] as string, letters[at] as string];
      expect(nearestName(letters.join(''), NAMES)).toBe(name);
    }),
  );
});

test('an unlike name, and a very long one, have no nearest name', () => {
  expect(nearestName('xyz', NAMES)).toBeUndefined();
  expect(nearestName('', NAMES)).toBeUndefined();
  expect(nearestName('s'.repeat(100_000), NAMES)).toBeUndefined();
  expect(nearestName('STORE', NAMES)).toBe('store');
  expect(nearestName('store', [])).toBeUndefined();
});
