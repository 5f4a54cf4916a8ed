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
  planCorrect,
  planRetract,
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
        stated.set(provenance, {
          claim: id,
          object,
          confidence,
          source,
          assertedSeq: n,
          assertedFrom: valid.from,
        });
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
          (each) =>
            each.from <= cell &&
            cell < each.from + each.length &&
            (each.object ?? object) === object,
        );
      for (let cell = 0; cell < CELLS; cell++) {
        const expected = asOf(before, { valid: day(cell), system: day(20) }).flatMap((row) => {
          if (isRetracted(cell, row)) return [];
          const ways = waysOf(row.provenance_id);
          const left = ways.filter((way) =>
            way.every((token) => !withdrawn.includes(stated.get(token)?.source ?? '')),
          );
          if (left.length === ways.length)
            return [`${row.object} ${row.confidence} ${row.provenance_id}`];
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
          return [
            `${row.object} ${best!.confidence} ${left.map((way) => way.join('*')).join(' + ')}`,
          ];
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

/** The model of one cell: the believed claims, and those that lost since it was last settled. */
interface Cell {
  believed: number[];
  lost: number[];
  /** The last correction, and the claims before it. */
  corrected?: { readonly by: number; readonly before: Cell } | undefined;
}

/** The claims that a correction alone had displaced are lost claims. */
function withoutCorrections(cell: Cell, gone: ReadonlySet<number>): void {
  while (cell.corrected !== undefined && gone.has(cell.corrected.by)) {
    const { believed, lost, corrected } = cell.corrected.before;
    cell.lost = [...new Set([...cell.lost, ...believed, ...lost])];
    cell.corrected = corrected;
  }
}

test('a withdrawal gives back what its sources alone had displaced', () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ verb: fc.constant('assert' as const), claim }) },
    { weight: 1, arbitrary: fc.record({ verb: fc.constant('correct' as const), claim }) },
    { weight: 1, arbitrary: fc.record({ verb: fc.constant('retract' as const), claim }) },
    { weight: 2, arbitrary: fc.record({ verb: fc.constant('withdraw' as const), claim }) },
  );
  let restored = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...STRATEGIES.filter((each) => each !== 'await' && each !== 'rule')),
      fc.array(step, { minLength: 2, maxLength: 14 }),
      (strategy, steps) => {
        const declaration = declarePredicate({ cardinality: 'single-valued', strategy });
        const stated = new Map<string, StatedClaim>();
        const gone = new Set<number>();
        const cells: Cell[] = Array.from({ length: CELLS }, () => ({ believed: [], lost: [] }));
        let rows: readonly FactRow[] = [];
        const of = (n: number): StatedClaim => stated.get(`w:${entry(n)}#0`)!;
        const best = (claims: readonly number[]): number =>
          claims.reduce((a, b) => {
            const [x, y] = [of(a), of(b)];
            const first =
              strategy === 'evi'
                ? y.confidence - x.confidence
                : strategy === 'lww-valid'
                  ? Date.parse(y.assertedFrom) - Date.parse(x.assertedFrom)
                  : 0;
            return (first || y.assertedSeq - x.assertedSeq) > 0 ? b : a;
          });
        const decide = (cell: Cell, all: readonly number[]): void => {
          const claims = [...new Set(all)];
          const { object } = claims.length === 0 ? { object: '' } : of(best(claims));
          cell.believed = claims.filter((n) => of(n).object === object);
          cell.lost = [
            ...new Set([...cell.lost, ...claims.filter((n) => of(n).object !== object)]),
          ];
        };
        for (const [n, { verb, claim: said }] of steps.entries()) {
          const { from, length, object, confidence, source } = said;
          const valid = { from: day(from), to: day(Math.min(from + length, CELLS)) };
          const provenance = `w:${entry(n)}#0`;
          const writing: PlanInput = {
            ...{ partition, declaration, latest: null, at: day(n), seq: n, merge: mergeProvenance },
            open: rows.filter(
              (row) => row.row_kind === 'current' && row.system_time_end === OPEN_END,
            ),
          };
          const within = cells.slice(from, Math.min(from + length, CELLS));
          const assertion: Assertion = { claim: `c${n}`, object, confidence, valid, provenance };
          let plan: unknown;
          if (verb === 'withdraw') {
            plan = planWithdraw(writing, { sources: [source], claims: stated, history: rows });
            for (const [token, each] of stated)
              if (each?.source === source) gone.add(Number(token.slice(2, 66)));
            for (const cell of cells) {
              if (!cell.believed.some((each) => gone.has(each))) continue;
              const left = cell.believed.filter((each) => !gone.has(each));
              withoutCorrections(cell, gone);
              const back = cell.lost.filter((each) => !gone.has(each));
              if (back.length > 0) restored++;
              decide(cell, [...left, ...back]);
            }
          } else if (verb === 'retract') {
            plan = planRetract(writing, { valid, object });
            for (const cell of within)
              if (cell.believed.length > 0 && of(cell.believed[0]!).object === object)
                Object.assign(cell, { believed: [], lost: [], corrected: undefined });
          } else {
            const seq = { assertedSeq: n, assertedFrom: valid.from };
            stated.set(provenance, { claim: `c${n}`, object, confidence, source, ...seq });
            plan =
              verb === 'assert'
                ? planAssert(writing, [assertion])
                : planCorrect(writing, assertion);
            for (const cell of within)
              if (verb === 'assert') decide(cell, [...cell.believed, n]);
              else
                Object.assign(cell, {
                  believed: [n],
                  lost: [],
                  corrected: { by: n, before: structuredClone(cell) },
                });
          }
          const { insert, ...rest } = plan as Plan;
          rows = applyPlan(rows, {
            ...rest,
            insert: insert.map((row) => ({ ...row, entry_id: entry(n) })),
          });
          for (const [at, { believed }] of cells.entries()) {
            const now = asOf(rows, { valid: day(at), system: day(25) });
            const expected =
              believed.length === 0 ? [] : [of(believed[0]!).object, of(best(believed)).confidence];
            expect(now.flatMap((row) => [row.object, row.confidence])).toEqual(expected);
            const tokens = now.flatMap((row) => waysOf(row.provenance_id).flat());
            expect(tokens.sort()).toEqual(believed.map((each) => `w:${entry(each)}#0`).sort());
          }
        }
      },
    ),
    { numRuns: cases(4_000) },
  );
  expect(restored).toBeGreaterThan(0);
});
