import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FactVersion, FactWrite } from '#ledger';
import {
  type Answer,
  applyPlan,
  type Cardinality,
  declarePredicate,
  type FactRow,
  mergeProvenance,
  OPEN_END,
  type Plan,
  type PlanInput,
  type PredicateDeclaration,
  planAssert,
  planChange,
  planCorrect,
  planRetract,
} from '#memory';
import { cases } from '../../../../../../tests/support/cases.ts';
import { errorOf } from '../../../../../../tests/support/process/errors.ts';
import { OpenRows, orderedRow, type Touch } from './open-rows.ts';

const partition = { space: 's', subject: 'alice', predicate: 'medication' };
const CELLS = 10;
const border = (n: number): string =>
  n >= CELLS ? OPEN_END : `2026-01-${String(n + 1).padStart(2, '0')}T00:00:00.000000Z`;
const tick = (n: number): string => `2026-02-01T00:00:${String(n).padStart(2, '0')}.000000Z`;

const said = fc.record({
  from: fc.nat(CELLS - 1),
  length: fc.integer({ min: 1, max: 4 }),
  object: fc.constantFrom('amoxicillin', 'penicillin', 'none'),
});
const deed = fc.record({
  verb: fc.constantFrom('assert', 'assert', 'assert', 'change', 'correct', 'retract'),
  said: fc.array(said, { minLength: 1, maxLength: 3 }),
  isOfAll: fc.boolean(),
});
type Deed = typeof deed extends fc.Arbitrary<infer T> ? T : never;

interface Saying {
  readonly touches: readonly Touch[];
  readonly plan: (writing: PlanInput) => Plan;
}

const asPlan =
  (plan: (writing: PlanInput) => ReturnType<typeof planAssert>) =>
  (writing: PlanInput): Plan => {
    const first = plan(writing);
    if (first.kind === 'plan') return first;
    const answers = first.questions.map(
      ({ request, members }): Answer => ({ request, winner: members[0]!.claim }),
    );
    return plan({ ...writing, answers }) as Plan;
  };

function sayingOf({ verb, said, isOfAll }: Deed, n: number, cardinality: Cardinality): Saying {
  const all = said.map(({ from, length, object }, i) => ({
    claim: `${n}-${i}`,
    object,
    confidence: 1,
    provenance: `w:@${i}`,
    valid: { from: border(from), to: border(from + length) },
  }));
  const [one] = all as [(typeof all)[number]];
  const { valid } = one;
  const isSingle = cardinality === 'single-valued';
  if (verb === 'assert' || (verb === 'change' && !isSingle))
    return { touches: all, plan: asPlan((writing) => planAssert(writing, all)) };
  if (verb === 'change') {
    const { from } = valid;
    return {
      touches: [{ valid: { from, to: OPEN_END }, object: one.object }],
      plan: asPlan((writing) => planChange(writing, { ...one, from })),
    };
  }
  if (verb === 'retract') {
    const object = isOfAll ? undefined : one.object;
    return {
      touches: [{ valid, object }],
      plan: asPlan((writing) =>
        planRetract(writing, { valid, ...(object !== undefined && { object }) }),
      ),
    };
  }
  const was = isOfAll && isSingle ? undefined : 'none';
  return {
    touches: [one, { valid, object: was }],
    plan: asPlan((writing) => planCorrect(writing, { ...one, ...(was !== undefined && { was }) })),
  };
}

const versionOf = (row: FactRow): FactVersion => ({
  ...row,
  content: { hash: 'ab'.repeat(32), bytes: 1 },
});
const isOpen = ({ row_kind, system_time_end }: FactRow): boolean =>
  row_kind === 'current' && system_time_end === OPEN_END;
const keys = (rows: readonly { fact_id: string; system_time_start: string }[]): string[] =>
  rows.map(({ fact_id, system_time_start }) => `${system_time_start} ${fact_id}`).sort();

describe.each(['single-valued', 'multi-valued'] as const)('%s', (cardinality) => {
  test('a plan on touched rows equals the plan on all rows, as do its open rows', () => {
    fc.assert(
      fc.property(
        fc.array(deed, { minLength: 1, maxLength: 10 }),
        fc.constantFrom('lww', 'evi', 'await'),
        fc.constantFrom('keep', 'drop'),
        (deeds, strategy, remainder) => {
          const declaration = declarePredicate({
            cardinality,
            strategy,
            remainder,
          } as PredicateDeclaration);
          let rows: readonly FactRow[] = [];
          const open = new OpenRows([]);
          for (const [n, deed] of deeds.entries()) {
            const { touches, plan } = sayingOf(deed, n, cardinality);
            const touched = open.touched(touches, declaration);
            // A check row by row.
            const isSought = (row: FactRow): boolean =>
              touches.some(
                ({ valid, object }) =>
                  row.valid_from < valid.to &&
                  valid.from < row.valid_to &&
                  (cardinality === 'single-valued' ||
                    object === undefined ||
                    object === row.object),
              );
            expect(keys(touched)).toEqual(keys(rows.filter((row) => isOpen(row) && isSought(row))));
            expect(touched.map(({ valid_from }) => valid_from)).toEqual(
              touched.map(({ valid_from }) => valid_from).sort(),
            );
            const writing = {
              partition,
              declaration,
              latest: n === 0 ? null : tick(n - 1),
              at: tick(n),
              seq: n,
              merge: mergeProvenance,
            };
            const planned = plan({ ...writing, open: touched.map(orderedRow) });
            expect(planned).toEqual(plan({ ...writing, open: rows.filter(isOpen) }));
            rows = applyPlan(rows, planned);
            const { close, insert } = planned;
            open.change({ close, insert: insert.map(versionOf) } as Pick<
              FactWrite,
              'close' | 'insert'
            >);
            expect(keys(open.all)).toEqual(keys(rows.filter(isOpen)));
          }
        },
      ),
      { numRuns: cases(300) },
    );
  });
});

test('forbidden overlaps are refused for any period, even after redeclaration', () => {
  const several = declarePredicate({ cardinality: 'multi-valued', strategy: 'lww' });
  const single = declarePredicate({ cardinality: 'single-valued', strategy: 'lww' });
  const writing = {
    partition,
    declaration: several,
    latest: null,
    at: tick(0),
    seq: 0,
    merge: mergeProvenance,
  };
  const say = (object: string): Parameters<typeof planAssert>[1][number] => ({
    claim: object,
    object,
    confidence: 1,
    provenance: 'w:@0',
    valid: { from: border(0), to: border(2) },
  });
  const elsewhere = [{ valid: { from: border(5), to: border(6) } }];
  const open = new OpenRows([]);
  expect(open.touched(elsewhere, single)).toEqual([]);
  const { close, insert } = planAssert({ ...writing, open: [] }, [
    say('none'),
    say('penicillin'),
  ]) as Plan;
  open.change({ close, insert: insert.map(versionOf) });
  expect(open.touched(elsewhere, several)).toEqual([]);
  expect(errorOf(() => open.touched(elsewhere, single))).toMatchObject({ reason: 'overlaps_open' });
});
