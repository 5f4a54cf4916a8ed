import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Answer,
  type Assertion,
  answerOf,
  applyPlan,
  asOf,
  declarePredicate,
  type FactRow,
  mergeProvenance,
  OPEN_END,
  type Plan,
  type PlanInput,
  planAssert,
  planWithdraw,
  STRATEGIES,
  type StatedClaim,
  trustProvenance,
} from '#memory';
import { cases } from '../support/cases.ts';

/**
 * A withdrawal against a naive evaluation of the provenance: a fact is a set of ways to derive it,
 * each a set of tokens. Without a source, only the ways without its tokens are left. A retraction
 * of the same commit takes its cells away.
 */

const CELLS = 8;
const partition = { space: 's', subject: 'ida', predicate: 'city' };
const day = (n: number): string => `2026-01-${String(n + 1).padStart(2, '0')}T00:00:00.000000Z`;
const entry = (n: number): string => String(n).padStart(64, '0');

const claim = fc.record({
  from: fc.nat(CELLS - 1),
  length: fc.integer({ min: 1, max: CELLS }),
  object: fc.constantFrom('Lyon', 'Oslo'),
  confidence: fc.constantFrom(0.3, 0.6, 0.9),
  source: fc.constantFrom('m1', 'm2', 'm3'),
});

function waysOf(provenance: string): string[][] {
  return provenance.split(' + ').map((term) => term.replace(/^[0-9]+\*/, '').split('*'));
}

const retraction = fc.record({
  from: fc.nat(CELLS - 1),
  length: fc.integer({ min: 1, max: CELLS }),
  object: fc.option(fc.constantFrom('Lyon', 'Oslo'), { nil: undefined }),
});

test('a withdrawal leaves each provenance as without its sources', () => {
  const history = fc.record({
    strategy: fc.constantFrom(...STRATEGIES),
    cardinality: fc.constantFrom('single-valued' as const, 'multi-valued' as const),
    claims: fc.array(claim, { minLength: 1, maxLength: 8 }),
    withdrawn: fc.uniqueArray(fc.constantFrom<string>('m1', 'm2', 'm3')),
    retracted: fc.array(retraction, { maxLength: 3 }),
  });
  fc.assert(
    fc.property(history, ({ strategy, cardinality, claims, withdrawn, retracted }) => {
      const declaration = declarePredicate({ cardinality, strategy });
      const stated = new Map<string, StatedClaim>();
      let rows: readonly FactRow[] = [];
      const open = (): FactRow[] =>
        rows.filter((row) => row.row_kind === 'current' && row.system_time_end === OPEN_END);
      const writing = (n: number): PlanInput => ({
        ...{ partition, declaration, open: open(), latest: null, at: day(n), seq: n },
        merge: mergeProvenance,
        trust: trustProvenance,
      });
      for (const [n, { from, length, object, confidence, source }] of claims.entries()) {
        const id = `c${n}`;
        const valid = { from: day(from), to: day(Math.min(from + length, CELLS)) };
        const provenance = `w:${entry(n)}#0`;
        stated.set(provenance, { claim: id, object, confidence, source, assertedSeq: n, assertedFrom: valid.from });
        const said: Assertion[] = [{ claim: id, object, confidence, valid, provenance }];
        let plan = planAssert(writing(n), said);
        if (plan.kind === 'ask') {
          const by = { policy: 'v1', judge: `j${n}` };
          const answers: Answer[] = plan.questions.map((question) => answerOf(question, n % 2, by));
          plan = planAssert({ ...writing(n), answers }, said);
        }
        rows = applyPlan(rows, plan as Plan);
      }
      const before = rows;
      const end = claims.length;
      const retractions = retracted.map(({ from, length, object }) => ({
        valid: { from: day(from), to: day(Math.min(from + length, CELLS)) },
        ...(object !== undefined && { object }),
      }));
      const plan = planWithdraw(writing(end), { sources: withdrawn, claims: stated, retractions });
      rows = applyPlan(rows, plan);
      const isRetracted = (cell: number, { object }: FactRow): boolean =>
        retracted.some(
          (each) => each.from <= cell && cell < each.from + each.length && (each.object ?? object) === object,
        );
      for (let cell = 0; cell < CELLS; cell++) {
        const expected = asOf(before, { valid: day(cell), system: day(20) }).flatMap((row) => {
          if (isRetracted(cell, row)) return [];
          const ways = waysOf(row.provenance_id);
          const left = ways.filter((way) => way.every((token) => !withdrawn.includes(stated.get(token)?.source ?? '')));
          if (left.length === ways.length) return [`${row.object} ${row.confidence} ${row.provenance_id}`];
          if (left.length === 0) return [];
          const claims = left.flat().flatMap((token) => stated.get(token) ?? []);
          const rank = (one: StatedClaim): number[] =>
            strategy === 'evi'
              ? [one.confidence, one.assertedSeq]
              : strategy === 'lww-valid'
                ? [Date.parse(one.assertedFrom), one.assertedSeq]
                : [one.assertedSeq];
          const [best] = claims.sort((a, b) => {
            const [as, bs] = [rank(a), rank(b)];
            const i = as.findIndex((value, at) => value !== bs[at]);
            return i < 0 ? 0 : bs[i]! - as[i]!;
          });
          return [`${row.object} ${best!.confidence} ${left.map((way) => way.join('*')).join(' + ')}`];
        });
        const told = (list: readonly FactRow[]): string[] =>
          list.map((row) => `${row.object} ${row.confidence} ${row.provenance_id}`).sort();
        expect(told(asOf(rows, { valid: day(cell), system: day(20) }))).toEqual(expected.sort());
        // The past stays.
        const past = { valid: day(cell), system: day(end - 1) };
        expect(told(asOf(rows, past))).toEqual(told(asOf(before, past)));
      }
      expect(new Set(open().map(({ fact_id }) => fact_id)).size).toBe(open().length);
    }),
    { numRuns: cases(400) },
  );
});
