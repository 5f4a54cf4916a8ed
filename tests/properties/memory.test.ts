import fc from 'fast-check';
import { describe, test } from 'vitest';
import {
  type Answer,
  type Assertion,
  answerOf,
  applyPlan,
  asOf,
  checkOpen,
  declarePredicate,
  diff,
  type FactRow,
  OPEN_END,
  OPEN_START,
  type Plan,
  type PlanInput,
  planAssert,
  planChange,
  planCorrect,
  planRetract,
  type Question,
  type QuestionPlan,
  readWitness,
} from '#memory';
import {
  atomicSegments,
  coalesce,
  intersection,
  leftovers,
  overlaps,
  type Period,
} from '../../packages/assize/src/memory/period.ts';
import { type Contest, settle } from '../../packages/assize/src/memory/settle.ts';
import { mergedProvenance } from '../../packages/assize/src/memory/sum-provenance.ts';
import { cases } from '../support/cases.ts';
import {
  type AssertedCells,
  CELLS,
  MemoryModel,
  type MemoryOperation,
  type Rules,
} from '../support/models/memory-model.ts';
import { expect } from '../support/quick-expect.ts';

// Valid time of twelve cells: the first has no beginning, the last no end. System time of twelve
// ticks.

const partition = { space: 's', subject: 'alice', predicate: 'medication' };
const day = (n: number): string => String(n + 1).padStart(2, '0');
const border = (n: number): string =>
  n === 0 ? OPEN_START : n === CELLS ? OPEN_END : `2026-01-${day(n)}T00:00:00.000000Z`;
const inCell = (n: number): string => `2026-01-${day(n)}T12:00:00.000000Z`;
const merge = (a: string, b: string): string => [...a.split('+'), ...b.split('+')].sort().join('+');

const span = fc
  .tuple(fc.nat(CELLS - 1), fc.integer({ min: 1, max: CELLS }))
  .map(([from, length]) => ({
    from,
    to: Math.min(from + length, CELLS),
  }));
const object = fc.constantFrom('amoxicillin', 'penicillin', 'none', 'aspirin');
const confidence = fc.constantFrom(0, 0.5, 0.9, 1);
/** Claims of one commit are met in an order that says nothing about which is preferred. */
const said = fc.record({ span, object, confidence, rank: fc.nat(9) });
type Drawn = typeof said extends fc.Arbitrary<infer T> ? T : never;

const deed = fc.oneof(
  {
    arbitrary: fc.record({
      verb: fc.constant('assert' as const),
      batch: fc.array(said, { minLength: 1, maxLength: 4 }),
    }),
    weight: 6,
  },
  { arbitrary: fc.record({ verb: fc.constant('change' as const), said }), weight: 2 },
  {
    arbitrary: fc.record({
      verb: fc.constant('correct' as const),
      said,
      was: fc.option(object, { nil: undefined }),
    }),
    weight: 2,
  },
  {
    arbitrary: fc.record({
      verb: fc.constant('retract' as const),
      span,
      object: fc.option(object, { nil: undefined }),
    }),
    weight: 1,
  },
);

const rules: fc.Arbitrary<Rules> = fc.record({
  strategy: fc.constantFrom('lww', 'lww-valid', 'evi', 'await', 'rule'),
  isSingle: fc.nat(3).map((n) => n > 0),
  keeps: fc.boolean(),
});

/** Some commits come in the same microsecond as the one before, or with a clock that is behind. */
const ticks = fc.array(fc.record({ deed, isLate: fc.boolean() }), { minLength: 1, maxLength: 12 });

function sayingOf(
  { span: { from, to }, object, confidence, rank }: Drawn,
  tick: number,
  i: number,
): AssertedCells {
  return { claim: `${rank}-${tick}-${i}`, object, confidence, from, to, token: `t${tick}` };
}

/** The deed that was drawn, as these rules allow it. */
function deedOf(
  drawn: typeof deed extends fc.Arbitrary<infer T> ? T : never,
  tick: number,
  { isSingle }: Rules,
): MemoryOperation {
  if (drawn.verb === 'assert')
    return { verb: 'assert', batch: drawn.batch.map((one, i) => sayingOf(one, tick, i)) };
  if (drawn.verb === 'retract') {
    return {
      verb: 'retract',
      ...drawn.span,
      ...(drawn.object !== undefined && { object: drawn.object }),
    };
  }
  const one = sayingOf(drawn.said, tick, 0);
  if (drawn.verb === 'change')
    return isSingle
      ? { verb: 'change', said: { ...one, to: CELLS } }
      : { verb: 'assert', batch: [one] };
  const was = drawn.was ?? (isSingle ? undefined : one.object);
  return { verb: 'correct', said: one, ...(was !== undefined && { was }) };
}

function assertionOf({ claim, object, confidence, from, to, token }: AssertedCells): Assertion {
  return {
    claim,
    object,
    confidence,
    valid: { from: border(from), to: border(to) },
    provenance: token,
  };
}

function planOf(deed: MemoryOperation, writing: PlanInput): Plan | QuestionPlan {
  if (deed.verb === 'assert') return planAssert(writing, deed.batch.map(assertionOf));
  if (deed.verb === 'change') {
    const { valid, ...rest } = assertionOf(deed.said);
    return planChange(writing, { ...rest, from: valid.from });
  }
  if (deed.verb === 'correct')
    return planCorrect(writing, {
      ...assertionOf(deed.said),
      ...(deed.was !== undefined && { was: deed.was }),
    });
  const valid = { from: border(deed.from), to: border(deed.to) };
  return planRetract(writing, { valid, ...(deed.object !== undefined && { object: deed.object }) });
}

/** A judge with a vote that depends on the candidates, and on nothing else. */
function judge(claims: readonly string[]): string {
  const sum = [...claims.join()].reduce((total, char) => total + char.charCodeAt(0), 0);
  return claims[sum % claims.length]!;
}

function answered({ questions }: QuestionPlan): Answer[] {
  expect(new Set(questions.map(({ request }) => request)).size).toBe(questions.length);
  return questions.map((question: Question) => {
    const claims = question.members.map(({ claim }) => claim);
    expect(claims).toEqual([...claims].sort());
    return answerOf(question, claims.indexOf(judge(claims)), { judge: 'j' });
  });
}

/** The plan, after all questions are answered. The open rows may come in any order. */
function decided(deed: MemoryOperation, writing: PlanInput): Plan {
  const first = planOf(deed, writing);
  if (first.kind === 'plan') return first;
  const open = [...writing.open].reverse();
  const plan = planOf(deed, { ...writing, open, answers: answered(first) });
  if (plan.kind === 'ask') throw new Error('it asks again what was answered');
  return plan;
}

const shown = ({ object, confidence, lineage, asserted_seq, provenance_id }: FactRow): unknown => [
  object,
  confidence,
  lineage,
  asserted_seq,
  provenance_id,
];

describe('memory', () => {
  test('matches a model of cells at each point of both times, and keeps losers', () => {
    fc.assert(
      fc.property(rules, ticks, (given, drawn) => {
        const declaration = declarePredicate({
          cardinality: given.isSingle ? 'single-valued' : 'multi-valued',
          strategy: given.strategy,
          remainder: given.keeps ? 'keep' : 'drop',
        });
        const model = new MemoryModel(given, judge);
        let rows: readonly FactRow[] = [];
        let latest: string | null = null;
        const pictures: {
          at: string;
          facts: MemoryModel['facts'];
          losses: MemoryModel['losses'];
          seen: string;
        }[] = [];
        for (const [tick, { deed: what, isLate }] of drawn.entries()) {
          const deed = deedOf(what, tick, given);
          const at = isLate
            ? '2026-02-01T00:00:00.000000Z'
            : `2026-02-${day(tick)}T00:00:00.000000Z`;
          const open = rows.filter(
            (row) => row.row_kind === 'current' && row.system_time_end === OPEN_END,
          );
          const writing: PlanInput = {
            partition,
            declaration,
            open,
            latest,
            at,
            seq: tick * 2,
            merge,
          };
          const plan = decided(deed, writing);
          const near = open.filter((row) =>
            overlaps(written(deed), { from: row.valid_from, to: row.valid_to }),
          );
          expect(decided(deed, { ...writing, open: near })).toEqual(plan);
          expect(latest === null || plan.systemTime > latest).toBe(true);
          expect(plan.systemTime >= at).toBe(true);
          latest = plan.systemTime;
          rows = applyPlan(rows, plan);
          checkOpen(rows, declaration);
          model.do(deed, tick * 2);
          pictures.push({
            at: latest,
            facts: model.facts,
            losses: model.losses,
            seen: allSeen(rows, latest),
          });
        }
        for (const { at, facts, losses, seen } of pictures) {
          for (let cell = 0; cell < CELLS; cell++) {
            const point = { valid: inCell(cell), system: at };
            const expected = facts
              .filter(({ cells }) => cells.includes(cell))
              .map((fact) => [
                fact.object,
                fact.confidence,
                fact.claim,
                fact.seq,
                fact.tokens.join('+'),
              ]);
            expect(new Set(asOf(rows, point).map(shown))).toEqual(new Set(expected));
            const lost = losses.filter((loss) => loss.cell === cell);
            expect(asOf(rows, point, 'audit').map(lossOf).sort()).toEqual(
              lost.map((loss) => JSON.stringify({ ...loss, cell: 0 })).sort(),
            );
          }
          // The extent of a row too, and that nothing written later changes what was read.
          const extents = facts.map(({ cells, object }) => [
            object,
            border(cells[0]!),
            border(cells.at(-1)! + 1),
          ]);
          const open = rows.filter(
            (row) =>
              row.row_kind === 'current' && row.system_time_start <= at && at < row.system_time_end,
          );
          expect(new Set(open.map((row) => [row.object, row.valid_from, row.valid_to]))).toEqual(
            new Set(extents),
          );
          expect(new Set(open.map((row) => row.fact_id)).size).toBe(open.length);
          expect(allSeen(rows, at)).toBe(seen);
        }
        const [first, last] = [pictures[0]!.at, pictures.at(-1)!.at];
        expectDifference(rows, first, last);
      }),
      { numRuns: cases(500) },
    );
  });

  test('has the same plan for every order of a batch', () => {
    const batches = fc.record({
      strategy: fc.constantFrom('lww', 'evi'),
      batch: fc.array(said, { minLength: 2, maxLength: 5 }),
      before: fc.array(said, { maxLength: 3 }),
    });
    fc.assert(
      fc.property(batches, fc.boolean(), ({ strategy, batch, before }, keeps) => {
        const declaration = declarePredicate({
          cardinality: 'single-valued',
          strategy: strategy as 'lww',
          remainder: keeps ? 'keep' : 'drop',
        });
        const stamp = { partition, declaration, latest: null, merge };
        const one = planAssert(
          { ...stamp, open: [], at: '2026-02-01T00:00:00.000000Z', seq: 1 },
          before.map((drawn, i) => assertionOf(sayingOf(drawn, 0, i))),
        ) as Plan;
        const open = one.insert.filter(({ row_kind }) => row_kind === 'current');
        const writing = { ...stamp, open, at: '2026-02-02T00:00:00.000000Z', seq: 2 };
        const assertions = batch.map((drawn, i) => assertionOf(sayingOf(drawn, 1, i)));
        const plan = planAssert(writing, assertions);
        for (const order of permutations(assertions))
          expect(planAssert(writing, order)).toEqual(plan);
      }),
      { numRuns: cases(60) },
    );
  });

  test('by valid time believes the same after any order of the same claims', () => {
    // The latest start wins, and each start belongs to one object.
    const objectOf = (from: number): string => `o${(from * 7) % 3}`;
    const claims = fc.array(fc.record({ span, confidence }), { minLength: 2, maxLength: 5 });
    fc.assert(
      fc.property(claims, (drawn) => {
        const said = drawn.map(
          ({ span: { from, to } }, i): AssertedCells => ({
            claim: `c${i}`,
            object: objectOf(from),
            // Claims of one start are equally sure, so the order of commits decides nothing.
            confidence: drawn.find((one) => one.span.from === from)!.confidence,
            from,
            to,
            token: `t${i}`,
          }),
        );
        const expected = Array.from({ length: CELLS }, (_, cell) => {
          const there = said.filter(({ from, to }) => from <= cell && cell < to);
          const latest = there.find(
            ({ from }) => from === Math.max(...there.map((one) => one.from)),
          );
          return latest === undefined ? [] : [`${latest.object} ${latest.confidence}`];
        });
        const declaration = declarePredicate({
          cardinality: 'single-valued',
          strategy: 'lww-valid',
        });
        for (const order of permutations(said)) {
          let rows: readonly FactRow[] = [];
          for (const [seq, one] of order.entries()) {
            const open = rows.filter(
              (row) => row.row_kind === 'current' && row.system_time_end === OPEN_END,
            );
            const at = `2026-02-${day(seq)}T00:00:00.000000Z`;
            const plan = planAssert(
              { partition, declaration, open, latest: null, at, seq, merge },
              [assertionOf(one)],
            );
            rows = applyPlan(rows, plan as Plan);
          }
          const system = '2026-03-01T00:00:00.000000Z';
          const believed = expected.map((_, cell) =>
            asOf(rows, { valid: inCell(cell), system }).map(
              (row) => `${row.object} ${row.confidence}`,
            ),
          );
          expect(believed).toEqual(expected);
        }
      }),
      { numRuns: cases(100) },
    );
  });

  test('decides the same for any Unicode form of an object', () => {
    const forms = fc.array(fc.constantFrom('\u00c5', 'A\u030a', '\u212b'), {
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(rules, ticks, forms, (given, drawn, spelt) => {
        const declaration = declarePredicate({
          cardinality: given.isSingle ? 'single-valued' : 'multi-valued',
          strategy: given.strategy,
          remainder: given.keeps ? 'keep' : 'drop',
        });
        const told = (
          spellings: readonly string[],
        ): { readonly text: string; readonly objects: readonly string[] } => {
          let rows: readonly FactRow[] = [];
          let n = 0;
          for (const [tick, { deed }] of drawn.entries()) {
            const text = JSON.stringify(deedOf(deed, tick, given));
            const said = JSON.parse(text, (member, value) =>
              member === 'object' || member === 'was'
                ? `${spellings[n++ % spellings.length]} ${value}`
                : value,
            );
            const open = rows.filter(
              (row) => row.row_kind === 'current' && row.system_time_end === OPEN_END,
            );
            const at = `2026-02-${day(tick)}T00:00:00.000000Z`;
            rows = applyPlan(
              rows,
              decided(said, { partition, declaration, open, latest: null, at, seq: tick, merge }),
            );
          }
          const [now, before] = [`2026-02-28T00:00:00.000000Z`, '2026-02-01T12:00:00.000000Z'];
          const difference = diff(
            rows,
            { valid: inCell(3), system: before },
            { valid: inCell(3), system: now },
          );
          return {
            text: JSON.stringify([rows, difference]).normalize('NFC'),
            objects: rows.map((row) => row.object),
          };
        };
        const composed = told(['\u00c5']);
        const other = told(spelt);
        expect(other.text).toBe(composed.text);
        if (!spelt.includes('\u00c5'))
          expect(other.objects.filter((one) => one.includes('\u00c5'))).toEqual([]);
      }),
      { numRuns: cases(200) },
    );
  });

  test('has leftovers and segments that cover exactly the right periods', () => {
    const periods = fc.array(span, { maxLength: 6 });
    fc.assert(
      fc.property(span, periods, (drawn, others) => {
        const of = periodOf(drawn);
        const without = others.map(periodOf);
        const cells = (list: readonly Period[]): number[] => {
          const held = list.flatMap((one) =>
            Array.from({ length: CELLS }, (_, n) => n).filter(
              (n) => one.from <= inCell(n) && inCell(n) < one.to,
            ),
          );
          return held.sort((a, b) => a - b);
        };
        const once = (list: readonly Period[]): number[] => [...new Set(cells(list))];
        const left = leftovers(of, without);
        expect(cells(left)).toEqual(cells([of]).filter((n) => !cells(without).includes(n)));
        const segments = atomicSegments([of, ...without]);
        expect(cells(segments)).toEqual(once([of, ...without]));
        for (const segment of segments)
          for (const { from, to } of [of, ...without])
            for (const at of [from, to]) expect(segment.from < at && at < segment.to).toBe(false);
        const whole = coalesce(segments, (a, b) => ({ from: a.from, to: b.to }));
        expect(cells(whole)).toEqual(cells(segments));
        expect(whole.some((a) => whole.some((b) => a.to === b.from))).toBe(false);
        for (const other of without) {
          expect(cells([intersection(of, other)].flatMap((one) => one ?? []))).toEqual(
            cells([of]).filter((n) => cells([other]).includes(n)),
          );
          expect(overlaps(of, other)).toBe(intersection(of, other) !== undefined);
        }
      }),
      { numRuns: cases(2_000) },
    );
  });
});

test.each(['lww', 'evi'] as const)(
  '2 to 8 candidates have one winner, losers and audit in any order, by %s',
  (strategy) => {
    const declaration = declarePredicate({ cardinality: 'single-valued', strategy });
    const valid = { from: border(2), to: border(5) };
    const open: FactRow[] = [];
    for (let n = 2; n <= 8; n++) {
      // Ties in confidence, and some rows that are already current, as a store without exclusion
      // would have them.
      const items = Array.from({ length: n }, (_, i) => {
        const assertion = {
          claim: `c${(i * 5) % 8}`,
          object: `o${i}`,
          confidence: [0.5, 0.9][i % 2]!,
          valid,
          provenance: `t${i}`,
        };
        const seq = i % 3;
        const at = `2026-02-0${seq + 1}T00:00:00.000000Z`;
        const plan = planAssert({ partition, declaration, open, latest: null, at, seq, merge }, [
          assertion,
        ]) as Plan;
        return { row: plan.insert[0]!, isNew: i % 4 === 0, parts: [valid] };
      });
      const told = (order: typeof items): string => {
        const { beliefs, contests } = settle(partition, declaration, order, new Map(), { merge });
        const [{ winner, losers, question }] = contests as [Contest];
        return JSON.stringify([
          beliefs.map(({ head, from, to }) => [head.row.fact_id, from, to]),
          winner.head.row.fact_id,
          losers.map(({ head }) => head.row.fact_id).sort(),
          mergedProvenance([winner, ...losers], merge),
          // All that a witness has.
          question,
        ]);
      };
      const expected = told(items);
      let tried = 0;
      for (const order of permutations(items)) {
        tried++;
        if (told(order) !== expected) expect(told(order)).toBe(expected);
      }
      expect(tried).toBe([1, 1, 2, 6, 24, 120, 720, 5_040, 40_320][n]);
    }
  },
);

/** From where to where something is written. */
function written(deed: MemoryOperation): Period {
  const all = deed.verb === 'retract' ? [deed] : deed.verb === 'assert' ? deed.batch : [deed.said];
  return periodOf({
    from: Math.min(...all.map(({ from }) => from)),
    to: Math.max(...all.map(({ to }) => to)),
  });
}

function periodOf({ from, to }: { from: number; to: number }): Period {
  return { from: border(from), to: border(to) };
}

function allSeen(rows: readonly FactRow[], system: string): string {
  const cells = Array.from({ length: CELLS }, (_, cell) =>
    asOf(rows, { valid: inCell(cell), system }, 'all'),
  );
  return JSON.stringify(
    cells.map((found) => found.map((row) => ({ ...row, system_time_end: undefined }))),
  );
}

function lossOf(row: FactRow): string {
  const { winner, loser, members } = readWitness(row);
  const lost = members.find(({ claim }) => claim === loser)!;
  // The losing rows are there in full, and their provenance is part of the sum.
  for (const { provenance_id } of lost.rows)
    for (const token of provenance_id.split('+'))
      expect(row.provenance_id.split('+')).toContain(token);
  const objects = members.map(({ object }) => object).sort();
  return JSON.stringify({ cell: 0, loser, winner, objects, tokens: row.provenance_id.split('+') });
}

function expectDifference(rows: readonly FactRow[], first: string, last: string): void {
  for (let cell = 0; cell < CELLS; cell++) {
    const [from, to] = [first, last].map((system) => ({ valid: inCell(cell), system })) as [
      never,
      never,
    ];
    const [before, after] = [asOf(rows, from), asOf(rows, to)];
    const { added, removed, revised } = diff(rows, from, to);
    const objects = (list: readonly FactRow[]): string[] => list.map((row) => row.object).sort();
    expect(objects([...before.filter((row) => !removed.includes(row)), ...added])).toEqual(
      objects(after),
    );
    for (const { from: was, to: is } of revised) {
      expect(before).toContain(was);
      expect(after).toContain(is);
      expect(was.object).toBe(is.object);
    }
  }
}

function* permutations<T>(list: readonly T[]): Generator<T[]> {
  if (list.length === 0) yield [];
  for (let i = 0; i < list.length; i++)
    for (const rest of permutations(list.toSpliced(i, 1))) yield [list[i]!, ...rest];
}
