import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePointer, toPointer } from '#canon';
import { cases } from '../../../../../tests/support/cases.ts';
import { bindAll, parseTemplate } from '../domain/footprint.ts';
import { ReadSet } from './read-set.ts';

const premise = (...places: string[]): ReadSet => new ReadSet(places.map(parsePointer));

/** Few keys, so that paths overlap, including keys that a tree of keys could mishandle. */
const path = fc.array(fc.constantFrom('a', 'b', '', '0', '-', '*', '__proto__', 'a/b', '~'), {
  maxLength: 4,
});

/** By text: the same pointer, or one that continues below the other. */
function isAtBelowOrAbove(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}

test('a read set overlaps only paths at, below or above one of its paths', () => {
  fc.assert(
    fc.property(fc.array(path, { minLength: 1, maxLength: 5 }), path, (places, changed) => {
      const naive = places.some((place) => isAtBelowOrAbove(toPointer(changed), toPointer(place)));
      expect(new ReadSet(places).overlaps(changed)).toBe(naive);
    }),
    { numRuns: cases(2_000) },
  );
});

test('names a part of a list that is not an element, or that may be there', () => {
  const state = { '-': {}, length: 1, list: [{ '-': 1 }, []] };
  for (const place of ['/list/-', '/list/length', '/list/00', '/list/1/-', '/list/-/0', '/list/'])
    expect(premise('/length', place).noElement(state)).toBe(place);
  for (const place of [
    '',
    '/-',
    '/length',
    '/list',
    '/list/0/-',
    '/list/7',
    '/list/7/-',
    '/none/-',
    '/length/-',
  ])
    expect(premise(place).noElement(state)).toBeUndefined();
});

describe('is hidden from a footprint', () => {
  const hidden = (places: string[], footprint: string[]): string | undefined =>
    premise(...places).hiddenFrom(bindAll(footprint.map(parseTemplate), {}));

  test('where that does not show all that is at one of the places', () => {
    expect(hidden(['/mine', '/other'], ['/mine'])).toBe('/other');
    expect(hidden(['/mine'], ['/mine/a'])).toBe('/mine');
    expect(hidden(['/cards/c'], ['/cards/*/title'])).toBe('/cards/c');
    expect(hidden(['/log'], ['/log/-'])).toBe('/log');
    expect(hidden(['/log/0'], ['/log/-'])).toBe('/log/0');
    expect(hidden([''], ['/a', '/b'])).toBe('');
    expect(hidden(['/toString'], ['/mine'])).toBe('/toString');
  });

  test('and not where it does, also where nothing is', () => {
    expect(hidden(['/mine', '/mine/a/b'], ['/mine'])).toBeUndefined();
    expect(hidden(['/cards', '/cards/c', '/cards/c/title'], ['/cards/*'])).toBeUndefined();
    expect(hidden(['/cards/c/title'], ['/cards/*/title'])).toBeUndefined();
    expect(hidden(['/log/0'], ['/log', '/log/-'])).toBeUndefined();
  });
});
