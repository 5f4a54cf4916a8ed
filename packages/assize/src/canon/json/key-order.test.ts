import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonName } from '../../../../../tests/json-values.ts';
import { knownOrder, sortKeys } from './key-order.ts';

/** The lookup's result after the names occurred often enough to be cached, if they ever are. */
function settled(keys: readonly string[]): ReturnType<typeof knownOrder> {
  // A long row of unknown shapes is looked up only sometimes. A known shape ends it.
  for (let i = 0; i < 40; i++) knownOrder(['known']);
  for (let i = 0; i < 3; i++) knownOrder(keys.slice());
  return knownOrder(keys.slice());
}

function leadsOf(keys: readonly string[]): string {
  return (settled(keys)?.leads ?? []).map((lead) => Buffer.from(lead).toString()).join('');
}

describe('a shape', () => {
  test('is a stranger at first, and known when it comes again', () => {
    const keys = ['shape-zeta', 'shape-alpha'];
    settled(['known']);
    expect(knownOrder(keys.slice())).toBeUndefined();
    expect(knownOrder(keys.slice())).toBeUndefined();
    const order = knownOrder(keys.slice());
    expect(order).toMatchObject({ keys, sorted: ['shape-alpha', 'shape-zeta'] });
    expect(leadsOf(keys)).toBe('{"shape-alpha":,"shape-zeta":');
  });

  test('is unchanged when the caller sorts its own names', () => {
    const keys = ['z2', 'a2'];
    settled(['known']);
    for (let i = 0; i < 2; i++) {
      const own = keys.slice();
      knownOrder(own);
      sortKeys(own);
    }
    expect(knownOrder(keys)?.keys).toEqual(keys);
  });

  test('is another shape with its names in another order', () => {
    expect(settled(['p', 'q', 'r'])?.keys).toEqual(['p', 'q', 'r']);
    expect(settled(['p', 'r', 'q'])?.keys).toEqual(['p', 'r', 'q']);
    expect(leadsOf(['p', 'r', 'q'])).toBe(leadsOf(['p', 'q', 'r']));
  });

  test.each([
    ['more names than are kept', Array.from({ length: 65 }, (_, i) => `n${i}`)],
    ['a name that is too long', ['a', 'x'.repeat(65)]],
    ['a name to be escaped', ['a', '"']],
    ['a name that is longer in UTF-8', ['a', 'é']],
    ['half a surrogate pair', ['a', '\ud800']],
  ])('is never kept with %s', (_name, keys) => {
    expect(settled(keys)).toBeUndefined();
  });

  test('is found or not, but never mistaken', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uniqueArray(jsonName, { minLength: 1, maxLength: 20 }), { maxLength: 30 }),
        (shapes) => {
          for (const keys of [...shapes, ...shapes, ...shapes]) {
            const order = knownOrder(keys.slice());
            if (order === undefined) continue;
            expect(order.keys).toEqual(keys);
            expect(order.sorted).toEqual(keys.toSorted());
          }
        },
      ),
    );
  });
});

test('names are sorted by UTF-16 code units, few and many', () => {
  fc.assert(
    fc.property(fc.uniqueArray(jsonName, { maxLength: 60, size: 'max' }), (names) => {
      const sorted = names.slice();
      sortKeys(sorted);
      for (let i = 1; i < sorted.length; i++)
        expect(Buffer.compare(utf16(sorted[i - 1]!), utf16(sorted[i]!))).toBe(-1);
      expect(new Set(sorted)).toEqual(new Set(names));
    }),
  );
});

/** The code units, the higher byte first, so that comparing bytes is comparing units. */
function utf16(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16();
}
