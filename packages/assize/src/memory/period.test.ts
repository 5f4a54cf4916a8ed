import { describe, expect, test } from 'vitest';
import { errorOf } from '../../../../tests/support/process/errors.ts';
import { ALLEN_RELATIONS, type AllenRelation, allenRelation } from './allen.ts';
import {
  atomicSegments,
  coalesce,
  holds,
  leftovers,
  OPEN_END,
  OPEN_START,
  overlaps,
  type Period,
  period,
} from './period.ts';

const codeOf = (call: () => unknown): unknown => (errorOf(call) as { reason?: unknown }).reason;
const at = (n: number): string => `2026-01-${String(n).padStart(2, '0')}T00:00:00.000000Z`;
const of = (from: number, to: number): Period => ({ from: at(from), to: at(to) });

describe('a period', () => {
  test('is refused by name if it is invalid', () => {
    expect(codeOf(() => period(at(2), at(2)))).toBe('empty_period');
    expect(codeOf(() => period(at(3), at(2)))).toBe('reversed_period');
    expect(codeOf(() => period('2026-01-01T00:00:00', at(2)))).toBe('no_instant');
    expect(codeOf(() => period(at(1), '2026-02-30T00:00:00.000000Z'))).toBe('no_instant');
    expect(codeOf(() => period(OPEN_END, OPEN_END))).toBe('no_instant');
    expect(codeOf(() => period(OPEN_START, OPEN_START))).toBe('no_instant');
  });

  test('may be open at both ends, and then holds every instant', () => {
    const always = period(OPEN_START, OPEN_END);
    for (const instant of ['0001-01-01T00:00:00.000000Z', at(1), '9998-12-31T23:59:59.999999Z'])
      expect(holds(always, instant)).toBe(true);
  });

  test('is closed where it begins and open where it ends', () => {
    expect(holds(of(1, 2), at(1))).toBe(true);
    expect(holds(of(1, 2), at(2))).toBe(false);
    expect(overlaps(of(1, 2), of(2, 3))).toBe(false);
  });

  test('has exactly one of thirteen relations to another; nine share an instant', () => {
    const periods = [1, 2, 3, 4, 5].flatMap((from) =>
      [2, 3, 4, 5, 6].flatMap((to) => (from < to ? [of(from, to)] : [])),
    );
    const seen = new Map<AllenRelation, Set<boolean>>();
    for (const a of periods) {
      for (const b of periods) {
        const relation = allenRelation(a, b);
        seen.set(relation, (seen.get(relation) ?? new Set()).add(overlaps(a, b)));
        // The converse stands at the mirrored place.
        const converse = ALLEN_RELATIONS[12 - ALLEN_RELATIONS.indexOf(relation)];
        const others: Partial<Record<AllenRelation, AllenRelation>> = {
          starts: 'started-by',
          'started-by': 'starts',
          finishes: 'finished-by',
          'finished-by': 'finishes',
          during: 'contains',
          contains: 'during',
          equals: 'equals',
        };
        expect(allenRelation(b, a)).toBe(others[relation] ?? converse);
      }
    }
    expect([...seen.keys()].sort()).toEqual([...ALLEN_RELATIONS].sort());
    for (const answers of seen.values()) expect(answers.size).toBe(1);
    const apart = [...seen]
      .filter(([, answers]) => answers.has(false))
      .map(([relation]) => relation);
    expect(apart.sort()).toEqual(['after', 'before', 'meets', 'met-by']);
  });
});

test('leftovers lie outside all other periods, also if these overlap', () => {
  expect(leftovers(of(1, 10), [of(4, 6), of(5, 7), of(9, 12), of(12, 14)])).toEqual([
    of(1, 4),
    of(7, 9),
  ]);
  expect(leftovers(of(1, 10), [])).toEqual([of(1, 10)]);
  expect(leftovers(of(3, 4), [of(1, 10)])).toEqual([]);
});

test('atomic segments are cut at all borders and omit uncovered time', () => {
  expect(atomicSegments([of(1, 4), of(3, 6), of(8, 9), of(8, 9)])).toEqual([
    of(1, 3),
    of(3, 4),
    of(4, 6),
    of(8, 9),
  ]);
});

test('adjacent periods are joined if their values are equal', () => {
  const said = [
    { ...of(3, 5), what: 'a' },
    { ...of(1, 3), what: 'a' },
    { ...of(5, 6), what: 'b' },
    { ...of(7, 8), what: 'b' },
  ];
  const joined = coalesce(said, (a, b) => (a.what === b.what ? { ...a, to: b.to } : undefined));
  expect(joined).toEqual([{ ...of(1, 5), what: 'a' }, said[2], said[3]]);
});
