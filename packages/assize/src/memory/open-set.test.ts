import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { type OpenKey, OpenSet } from './open-set.ts';

const instant = (n: number): string => `2026-01-01T00:00:${String(n).padStart(2, '0')}.000000Z`;
const row = fc
  .record({
    id: fc.nat(5),
    begun: fc.nat(2),
    from: fc.nat(11),
    length: fc.integer({ min: 1, max: 5 }),
  })
  .map(
    ({ id, begun, from, length }): OpenKey => ({
      fact_id: `f${id}`,
      system_time_start: instant(begun),
      valid_from: instant(from),
      valid_to: instant(from + length),
    }),
  );
const name = (key: OpenKey): string => `${key.fact_id} ${key.system_time_start}`;
const overlap = (a: OpenKey, b: OpenKey): boolean =>
  a.valid_from < b.valid_to && b.valid_from < a.valid_to;

/** Whether rows may overlap is drawn as well: where they don't, they are found in another way. */
test('it answers as a list does that is looked through row by row', () => {
  fc.assert(
    fc.property(
      fc.boolean(),
      fc.array(row, { maxLength: 6 }),
      fc.array(fc.record({ row, isDeleted: fc.boolean() }), { maxLength: 30 }),
      (mayOverlap, first, deeds) => {
        const fits = (rows: readonly OpenKey[], row: OpenKey): boolean =>
          rows.every((other) => name(other) !== name(row) && (mayOverlap || !overlap(other, row)));
        let rows: OpenKey[] = [];
        for (const row of first) if (fits(rows, row)) rows.push(row);
        const set = new OpenSet(rows);
        for (const { row, isDeleted } of deeds) {
          if (isDeleted) {
            const there = rows.find((other) => name(other) === name(row));
            expect(set.delete(row)).toBe(there);
            rows = rows.filter((other) => other !== there);
          } else if (fits(rows, row)) {
            set.add(row);
            rows = [...rows, row];
          }
          expect(set.size).toBe(rows.length);
          expect([...set]).toEqual(
            rows.toSorted((a, b) =>
              a.valid_from < b.valid_from ? -1 : a.valid_from > b.valid_from ? 1 : 0,
            ),
          );
          expect(set.get(row)).toBe(rows.find((other) => name(other) === name(row)));
          const { valid_from: from, valid_to: to } = row;
          const found = set.overlapping({ from, to });
          expect(found).toEqual([...set].filter((other) => overlap(other, row)));
        }
      },
    ),
    { numRuns: cases(1_000) },
  );
});
