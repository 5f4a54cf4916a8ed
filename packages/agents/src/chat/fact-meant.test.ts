import type { FactRow } from 'assize/internal/memory';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { errorOf } from '../../../../tests/support/process/errors.ts';
import { factMeant } from './fact-meant.ts';

// Ids of few digits, so that first characters are often equal.
const claim = fc.stringMatching(/^[01]{10}$/);
const version = fc.record({
  lineage: claim,
  part: fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined }),
});
type Version = typeof version extends fc.Arbitrary<infer V> ? V : never;

const rowOf = ({ lineage, part }: Version): FactRow =>
  ({ lineage, fact_id: part === undefined ? lineage : `${lineage}::t::${part}` }) as FactRow;

test('an id means the one fact that starts with it, in its latest version', () => {
  fc.assert(
    fc.property(
      fc.array(version, { maxLength: 6 }),
      claim,
      fc.integer({ min: 1, max: 10 }),
      (versions, id, length) => {
        const rows = versions.map(rowOf);
        const typed = id.slice(0, length);
        const meant = rows.filter(({ lineage }) => typed.length >= 8 && lineage.startsWith(typed));
        const claims = new Set(meant.map(({ lineage }) => lineage));
        if (claims.size === 1)
          return void expect(factMeant(rows, typed, 's').lineage).toBe([...claims][0]);
        expect(errorOf(() => factMeant(rows, typed, 's'))).toMatchObject({
          code: claims.size === 0 ? 'not_found' : 'ambiguous',
        });
      },
    ),
    { numRuns: cases(500) },
  );
});

test('a whole id means its version, and its first characters the latest one', () => {
  const rows = [undefined, 1, 2].map((part) => rowOf({ lineage: '0123456789', part }));
  expect(factMeant(rows, '0123456789::t::1', 's')).toBe(rows[1]);
  expect(factMeant(rows, '0123456789', 's')).toBe(rows[0]);
  expect(factMeant(rows, '01234567', 's')).toBe(rows[2]);
});
