import fc from 'fast-check';
import { expect, test } from 'vitest';
import { seededRandom } from '#oracle';
import { PayloadBlobs } from './payload-blobs.ts';
import { positionedSalts, randomSalts } from './salts.ts';

test('salts of one seed are the same again at the same place, and at no other', () => {
  const place = fc.array(fc.string(), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(
      place,
      place,
      fc.string(),
      fc.integer({ min: 1, max: 5 }),
      (one, other, seed, count) => {
        const drawn = (at: readonly string[]): string[] => {
          const salt = positionedSalts(seededRandom(seed), ...at);
          return Array.from({ length: count }, salt);
        };
        expect(drawn(one)).toEqual(drawn(one));
        const all = [
          ...drawn(one),
          ...(JSON.stringify(one) === JSON.stringify(other) ? [] : drawn(other)),
        ];
        expect(new Set(all).size).toBe(all.length);
        for (const salt of all) expect(salt).toMatch(/^[0-9a-f]{32}$/);
      },
    ),
  );
});

test('equal values under different salts are separate blobs', () => {
  const hashes = [['t', 'h'], ['u', 'h'], ['t', 'i'], ['th']].map((place) => {
    const kept = new PayloadBlobs(positionedSalts(seededRandom('one'), ...place));
    kept.store('one text', true);
    return kept.blobs[0]?.hash;
  });
  expect(new Set(hashes).size).toBe(4);
  const drawn = [1, 2].map(() => randomSalts(seededRandom('one'))());
  expect(drawn[0]).toBe(drawn[1]);
});
