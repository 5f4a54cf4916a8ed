import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { Aliases, type AliasPair, nameKey } from './aliases.ts';

const NAMES = [
  'NYC',
  'New York City',
  'nyc',
  'the  Big Apple',
  'Berlin',
  'Zoe\u0308',
  'Zoë',
  'IDA',
  'ida',
  '北京',
];
const pair = fc.record({ alias: fc.constantFrom(...NAMES), name: fc.constantFrom(...NAMES) });

/** Repeats the pairs until no set of names grows. */
function naiveClass(pairs: readonly AliasPair[], text: string): Set<string> {
  const found = new Set([nameKey(text)]);
  for (let before = 0; before < found.size; ) {
    before = found.size;
    for (const { alias, name } of pairs) {
      if (found.has(nameKey(alias))) found.add(nameKey(name));
      if (found.has(nameKey(name))) found.add(nameKey(alias));
    }
  }
  return found;
}

test('classes are the symmetric and transitive closure of the pairs', () => {
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 8 }), (pairs) => {
      const aliases = new Aliases(pairs);
      for (const a of NAMES) {
        const known = naiveClass(pairs, a);
        expect(new Set(aliases.namesOf(a).map(nameKey))).toEqual(known);
        for (const b of NAMES)
          expect(aliases.isSame(a, b)).toBe(a === b || (known.size > 1 && known.has(nameKey(b))));
      }
    }),
    { numRuns: cases(300) },
  );
});

test('the name of a class is one of it, and its own name', () => {
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 8 }), (pairs) => {
      const aliases = new Aliases(pairs);
      for (const text of NAMES) {
        const name = aliases.nameOf(text);
        expect(aliases.nameOf(name)).toBe(name);
        expect(aliases.namesOf(text)[0]).toBe(name);
        for (const other of aliases.namesOf(text)) expect(aliases.nameOf(other)).toBe(name);
      }
    }),
    { numRuns: cases(300) },
  );
});

test('the order of the pairs has no influence', () => {
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 8 }), fc.nat(), (pairs, turn) => {
      const turned = [
        ...pairs.slice(turn % (pairs.length + 1)),
        ...pairs.slice(0, turn % (pairs.length + 1)),
      ].reverse();
      expect(new Aliases(turned).classes()).toEqual(new Aliases(pairs).classes());
    }),
    { numRuns: cases(300) },
  );
});

test('the name is the one that no pair calls an alias', () => {
  const aliases = new Aliases([
    { alias: 'Big Apple', name: 'NYC' },
    { alias: 'NYC', name: 'New York City' },
  ]);
  expect(aliases.namesOf('big  apple')).toEqual(['New York City', 'Big Apple', 'NYC']);
});

test('a question mentions a thing by any of its names, as whole words', () => {
  const aliases = new Aliases([{ alias: 'NYC', name: 'New York City' }]);
  expect(aliases.otherNamesIn('Who lives in nyc?')).toEqual(['New York City']);
  expect(aliases.otherNamesIn('New York City, or NYC')).toEqual([]);
  expect(aliases.otherNamesIn('nycticorax')).toEqual([]);
});
