import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../../tests/support/cases.ts';
import { type NearbyWeights, type Placed, rankNearby } from './nearby.ts';

const item = fc.record({
  score: fc.integer({ min: 0, max: 40 }).map((n) => n / 8),
  day: fc.constantFrom('', '2026-01-01', '2026-01-02'),
  recorded: fc.integer({ min: 10, max: 20 }).map(String),
});
const weights = fc.record({
  neighbours: fc.constantFrom(0, 0.25, 1),
  session: fc.constantFrom(0, 0.5, 2),
});

/** Looks through all items for each item. */
function naive(
  items: readonly Placed[],
  { neighbours, session }: Required<NearbyWeights>,
): number[] {
  return items.map(({ score, day, recorded }) => {
    if (day === '') return score;
    const others = items.filter((other) => other.day === day);
    const before = others.filter((other) => other.recorded < recorded);
    const after = others.filter((other) => other.recorded > recorded);
    const last = Math.max(...before.map((each) => Number(each.recorded)));
    const first = Math.min(...after.map((each) => Number(each.recorded)));
    const bestAt = (time: number): number =>
      others.reduce(
        (best, each) => (Number(each.recorded) === time ? Math.max(best, each.score) : best),
        0,
      );
    const scores = others.map((each) => each.score).sort((a, b) => b - a);
    const five = scores.slice(0, 5).reduce((sum, each) => sum + each, 0);
    return score + neighbours * (bestAt(last) + bestAt(first)) + (session * five) / 5;
  });
}

test('the scores are those of a walk over all items', () => {
  fc.assert(
    fc.property(fc.array(item, { maxLength: 30 }), weights, (items, weights) => {
      const ranked = rankNearby(items, weights);
      const expected = naive(items, weights);
      expect(new Set(ranked.map(({ item }) => item))).toEqual(new Set(items));
      for (const { item, score } of ranked)
        expect(score).toBeCloseTo(expected[items.indexOf(item)]!, 5);
      for (const [n, { score }] of ranked.slice(1).entries())
        expect(score).toBeLessThanOrEqual(ranked[n]!.score);
    }),
    { numRuns: cases(300) },
  );
});

test('weights of 0 keep scores and order', () => {
  fc.assert(
    fc.property(fc.array(item, { maxLength: 30 }), (items) => {
      const sorted = [...items].sort((a, b) => b.score - a.score);
      expect(rankNearby(sorted, { neighbours: 0, session: 0 })).toEqual(
        sorted.map((item) => ({ item, score: item.score })),
      );
    }),
    { numRuns: cases(100) },
  );
});

test('an answer beside the words of the question rises', () => {
  const said = (score: number, recorded: string, day = '2026-01-01'): Placed => ({
    score,
    day,
    recorded,
  });
  const [question, answer, elsewhere] = [said(3, '1'), said(1, '2'), said(1.5, '9', '2026-05-05')];
  expect(rankNearby([question, elsewhere, answer]).map(({ item }) => item)).toEqual([
    question,
    answer,
    elsewhere,
  ]);
});
