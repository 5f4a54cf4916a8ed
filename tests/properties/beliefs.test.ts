/** The plans of planners, as entries record them and as stores read them back. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '#base';
import { contentHash } from '#canon';
import {
  type BlobRow,
  beliefChange,
  checkRow,
  type FactVersion,
  factWrites,
  placedProvenance,
  Replayer,
  type SaltedRef,
  ValueReader,
  verifyTrajectory,
} from '#ledger';
import {
  type Answer,
  type Assertion,
  answerOf,
  applyPlan,
  declarePredicate,
  type FactRow,
  OPEN_END,
  OPEN_START,
  type Plan,
  type PlanInput,
  planAssert,
  planChange,
  planCorrect,
  planRetract,
  type QuestionPlan,
  readWitness,
  THIS_ENTRY,
} from '#memory';
import {
  mergeProvenance,
  Polynomial,
  trustToken,
  writeToken,
} from '../../packages/assize/src/memory/provenance/index.ts';
import { cases } from '../support/cases.ts';
import {
  ChainWriter,
  commitMembers,
  RowsReader,
  rootMembers,
  salted,
  second,
} from '../support/ledger/rows.ts';

const partition = { space: 's', subject: 'alice', predicate: 'medication' };
const PLACES = 6;
const border = (n: number): string =>
  n === 0 ? OPEN_START : n === PLACES ? OPEN_END : second(n * 10);

const said = fc.record({
  from: fc.nat(PLACES - 1),
  length: fc.integer({ min: 1, max: PLACES }),
  object: fc.constantFrom('penicillin', 'none', 'aspirin'),
  confidence: fc.constantFrom(0, 0.5, 1),
});
type Said = typeof said extends fc.Arbitrary<infer T> ? T : never;
const deed = fc.record({
  verb: fc.constantFrom('assert', 'assert', 'change', 'correct', 'retract'),
  batch: fc.array(said, { minLength: 1, maxLength: 3 }),
  isLate: fc.boolean(),
});
const drawn = fc.record({
  strategy: fc.constantFrom('lww', 'lww-valid', 'evi', 'await', 'rule'),
  isSingle: fc.boolean(),
  keeps: fc.boolean(),
  deeds: fc.array(deed, { minLength: 1, maxLength: 6 }),
});

describe('a plan', () => {
  test('survives an entry unchanged, and a store receives exactly the plan', async () => {
    await fc.assert(
      fc.asyncProperty(drawn, async ({ strategy, isSingle, keeps, deeds }) => {
        const declaration = declarePredicate({
          cardinality: isSingle ? 'single-valued' : 'multi-valued',
          strategy: strategy as 'lww',
          remainder: keeps ? 'keep' : 'drop',
        });
        const writer = new ChainWriter('t');
        writer.add('root', rootMembers());
        const blobs: BlobRow[] = [];
        const place = salted(partition, blobs) as SaltedRef;
        /**
         * The rows of a store that receives all writes. They must equal the rows from the plans
         * alone.
         */
        let rows: readonly FactRow[] = [];
        let latest: string | null = null;
        for (const [i, { verb, batch, isLate }] of deeds.entries()) {
          const open = rows.filter(
            (row) => row.row_kind === 'current' && row.system_time_end === OPEN_END,
          );
          // A clock that is behind, but no entry of one chain is.
          const at = isLate ? second(1) : second(i + 1);
          const writing = {
            partition,
            declaration,
            open,
            latest,
            at,
            seq: i + 1,
            merge: mergeProvenance,
          };
          const plan = decided(verb, batch, writing);
          const objects = plan.insert.map(({ object }) => salted(object, blobs) as SaltedRef);
          const of = {
            partition: place,
            version: i + 1,
            cardinality: declaration.cardinality,
            objects,
          };
          const beliefs = [beliefChange(plan, of)];
          const entry = checkRow(
            writer.add(
              'commit',
              commitMembers([], { at: second(1), delta: { state: [], effects: [], beliefs } }),
            ),
          );
          const [write] = await factWrites(entry, new ValueReader(new RowsReader([], blobs)));
          const { partition: names, names: content, ...change } = write!;
          expect([names, content, change.version]).toEqual([
            partition,
            { hash: place.$blob, bytes: place.bytes },
            i + 1,
          ]);
          expect(change.close).toEqual(plan.close);
          const placed = plan.insert.map((row) => placedRow(row, entry.id));
          expect(change.insert.map(rowOf)).toEqual(placed);
          expect(
            applyPlan(rows, {
              ...plan,
              close: [...change.close],
              insert: change.insert.map(rowOf),
            }),
          ).toEqual(applyPlan(rows, plan).map((row) => placedRow(row, entry.id)));
          rows = applyPlan(rows, { ...plan, insert: change.insert.map(rowOf) });
          latest = change.system_time;
          for (const row of change.insert) if (row.row_kind === 'audit') expectPlaced(rowOf(row));
        }
        const report = await verifyTrajectory(
          new Replayer(new RowsReader(writer.rows, blobs)),
          't',
        );
        expect(report).toMatchObject({ valid: true, entries: deeds.length + 1 });
      }),
      { numRuns: cases(150) },
    );
  });
});

const entryId = fc.constantFrom('0', '5', 'a', 'f').map((digit) => digit.repeat(64));
const token = fc.oneof(
  fc.nat(12).map((n) => writeToken(n)),
  fc
    .tuple(fc.nat(12), fc.constantFrom('1', '9', 'b', 'e'))
    .map(([n, digit]) => writeToken(n, digit.repeat(64))),
  fc
    .tuple(
      fc.constantFrom('policy' as const, 'judge' as const, 'approver' as const),
      fc.constantFrom('v1', 'w:@0', 'a+b', 'é^2*'),
    )
    .map(([kind, name]) => trustToken(kind, name)),
);
const polynomial = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 12 }), fc.array(token, { maxLength: 4 })), {
    maxLength: 5,
  })
  .map((terms) =>
    terms.reduce((sum, [count, tokens]) => {
      const product = tokens.reduce((all, one) => all.times(Polynomial.of(one)), Polynomial.one);
      return Array.from({ length: count }).reduce<Polynomial>((all) => all.plus(product), sum);
    }, Polynomial.zero),
  );

describe('provenance', () => {
  test('is placed as a polynomial is', () => {
    fc.assert(
      fc.property(polynomial, entryId, (inside, id) => {
        expect(placedProvenance(String(inside), id)).toBe(String(inside.placed(id)));
      }),
      { numRuns: cases(1_000) },
    );
  });

  test.each([
    't1+t2',
    'w:@',
    'w:@01',
    'x w:@0',
    'w:@0 +w:@1',
    'w:@0**w:@1',
    '',
    '0',
    '-1*w:@0',
    'w:@0^0',
  ])('a text that is not a polynomial stays as it is: %j', (text) =>
    expect(placedProvenance(text, 'ab'.repeat(32))).toBe(text),
  );
});

function rowOf({ content, ...row }: FactVersion): FactRow {
  expect(content.hash).toMatch(/^[0-9a-f]{64}$/);
  return row as FactRow;
}

/** The row outside of its entry. A row that is already placed stays unchanged. */
function placedRow(row: FactRow, id: string): FactRow {
  if (row.entry_id !== THIS_ENTRY) return row;
  return {
    ...row,
    entry_id: id,
    provenance_id: String(Polynomial.read(row.provenance_id).placed(id)),
  };
}

/**
 * A witness is the written text, and reads with all of its rows placed. Its sum covers exactly
 * those rows.
 */
function expectPlaced(row: FactRow): void {
  const { members } = readWitness(row);
  const rows = members.flatMap((member) => member.rows);
  expect(rows.some(({ entry_id }) => entry_id === row.entry_id)).toBe(true);
  const sum = rows.reduce(
    (all, one) => all.plus(Polynomial.read(one.provenance_id)),
    Polynomial.zero,
  );
  expect(JSON.stringify(rows)).not.toContain('@');
  expect(Polynomial.read(row.provenance_id).equals(sum)).toBe(true);
}

function decided(verb: string, batch: readonly Said[], writing: PlanInput): Plan {
  const first = planned(verb, batch, writing);
  if (first.kind === 'plan') return first;
  const answers: Answer[] = first.questions.map((question) =>
    answerOf(question, 0, { judge: 'j' }),
  );
  return planned(verb, batch, { ...writing, answers }) as Plan;
}

function planned(verb: string, batch: readonly Said[], writing: PlanInput): Plan | QuestionPlan {
  const isSingle = writing.declaration.cardinality === 'single-valued';
  const [first] = batch as [Said, ...Said[]];
  if (verb === 'retract')
    return planRetract(writing, { valid: validOf(first), object: first.object });
  const [assertion, ...more] = batch.map((one, n) => ({
    claim: claimOf(writing, n),
    object: one.object,
    confidence: one.confidence,
    valid: validOf(one),
    provenance: String(
      Polynomial.of(writeToken(n)).plus(Polynomial.of(trustToken('policy', `v${n}`))),
    ),
  })) as [Assertion, ...Assertion[]];
  if (verb === 'change' && isSingle) {
    const { valid, ...rest } = assertion;
    return planChange(writing, { ...rest, from: valid.from });
  }
  if (verb === 'correct') return planCorrect(writing, { ...assertion, was: 'none' });
  return planAssert(writing, [assertion, ...more]);
}

function claimOf({ seq }: PlanInput, n: number): string {
  return contentHash({ seq, n } as unknown as Json);
}

function validOf({ from, length }: Said): { from: string; to: string } {
  return { from: border(from), to: border(Math.min(from + length, PLACES)) };
}
