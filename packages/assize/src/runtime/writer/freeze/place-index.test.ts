import fc from 'fast-check';
import { expect, test } from 'vitest';
import { overlaps, patternFromText } from '#kernel';
import { PlaceIndex } from './place-index.ts';

const pattern = fc
  .array(fc.constantFrom('a', 'b', '*'), { maxLength: 4 })
  .map((segments) => patternFromText(segments.map((segment) => `/${segment}`).join('')));

test('the index finds overlapping patterns among those added and not removed', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(pattern, fc.nat(30))),
      fc.array(pattern, { minLength: 1 }),
      (added, asked) => {
        const index = new PlaceIndex<number>();
        const there = new Map<number, (typeof added)[number][0]>();
        for (const [n, [place, gone]] of added.entries()) {
          index.add(place, n);
          there.set(n, place);
          const former = there.get(gone);
          if (former !== undefined) index.remove(former, gone);
          there.delete(gone);
          // A value that is not in the index.
          index.remove(place, -1);
          index.remove(patternFromText('/z/z'), n);
        }
        for (const place of asked) {
          const found = new Set<number>();
          index.match(place, (n) => found.add(n));
          const all = [...there].filter(([, own]) => overlaps(own, place)).map(([n]) => n);
          expect([...found].sort()).toEqual(all.sort());
        }
      },
    ),
  );
});
