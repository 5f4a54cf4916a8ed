/**
 * A question never exceeds an entry for any answer: the size is counted in advance and never
 * underestimated.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addMicros, hashText, plainText } from '#canon';
import { beliefChange, placedProvenance, type SaltedRef } from '#ledger';
import type { FactRow } from './fact.ts';
import {
  type Assertion,
  type Plan,
  type PlanInput,
  planAssert,
  type QuestionPlan,
} from './plan.ts';
import { declarePredicate } from './predicate.ts';
import { mergeProvenance, writeToken } from './provenance/index.ts';
import { answerOf } from './question.ts';
import { applyPlan } from './read.ts';

const START = '2026-01-01T00:00:00.000000Z';
const day = (n: number): string => addMicros(START, n * 86_400_000_000);
const REF: SaltedRef = { $blob: 'f'.repeat(64), bytes: 1_000_000, salted: true };

const saying = fc.record({
  object: fc.constantFrom('aspirin', 'ibuprofen', 'none', 'morphine'),
  from: fc.nat(12),
  days: fc.integer({ min: 1, max: 8 }),
});
const history = fc.array(fc.array(saying, { minLength: 1, maxLength: 6 }), {
  minLength: 1,
  maxLength: 8,
});

test('answers add no more to an entry than was estimated at the question', () => {
  let asked = 0;
  fc.assert(
    fc.property(history, fc.infiniteStream(fc.nat(5)), (batches, votes) => {
      let rows: readonly FactRow[] = [];
      for (const [i, batch] of batches.entries()) {
        const seq = 100_000 + i;
        const open = rows.filter(
          (row) => row.row_kind === 'current' && row.system_time_end.startsWith('9999'),
        );
        const writing: PlanInput = {
          partition: { space: 's', subject: 'p', predicate: 'diagnosis' },
          declaration: declarePredicate({ cardinality: 'single-valued', strategy: 'await' }),
          open,
          latest: null,
          at: day(100 + i),
          seq,
          merge: mergeProvenance,
        };
        const said = batch.map(
          ({ object, from, days }, n): Assertion => ({
            claim: hashText(`${seq} ${n}`),
            object,
            valid: { from: day(from), to: day(from + days) },
            confidence: 0.123_456_789_012_345_6,
            provenance: writeToken(n),
          }),
        );
        const first = planAssert(writing, said);
        const plan =
          first.kind === 'plan'
            ? first
            : answered(first, (answers) => planAssert({ ...writing, answers }, said));
        if (first.kind === 'ask') {
          asked += 1;
          expect(lengthOf(plan, seq)).toBeLessThanOrEqual(first.most);
        }
        const entry = hashText(`${seq}`);
        rows = applyPlan(rows, plan).map((row) =>
          row.seq === seq
            ? { ...row, entry_id: entry, provenance_id: placedProvenance(row.provenance_id, entry) }
            : row,
        );
      }

      function answered(
        { questions }: QuestionPlan,
        again: (answers: ReturnType<typeof answerOf>[]) => Plan | QuestionPlan,
      ): Plan {
        const by = { judge: 'e'.repeat(64), policy: 'e'.repeat(64), theta: 'e'.repeat(64) };
        const vote = (members: number): number => (votes.next().value as number) % members;
        return again(
          questions.map((question) => answerOf(question, vote(question.members.length), by)),
        ) as Plan;
      }
    }),
    { numRuns: 200 },
  );
  expect(asked).toBeGreaterThan(200);
});

function lengthOf(plan: Plan, version: number): number {
  const of = {
    partition: REF,
    version,
    cardinality: 'single-valued' as const,
    objects: plan.insert.map(() => REF),
  };
  return plainText(beliefChange(plan, of) as never).length;
}
