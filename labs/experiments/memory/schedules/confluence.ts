import { arg, checkArgument } from 'assize/internal/base';
import { type FactRow, isOpen } from 'assize/internal/memory/fact.ts';
import { OPEN_END } from 'assize/internal/memory/period.ts';
import { type Assertion, planAssert } from 'assize/internal/memory/plan.ts';
import { mergeProvenance, Polynomial, writeToken } from 'assize/internal/memory/provenance';
import { applyPlan } from 'assize/internal/memory/read.ts';
import type { Strategy } from 'assize/internal/memory/strategy.ts';
import { ExperimentError } from './errors.ts';

/** The operators that fold a conflict set; the other two select from it (Remark 3). */
export const FOLDS = ['lww', 'evi'] as const satisfies readonly Strategy[];

/** The result of a conflict set in one order of arrival. */
export interface Folded {
  /** The claim that is believed; of several, were there several, all. */
  readonly winner: string;
  /** The provenance of all candidates, as every audit row states it. */
  readonly provenance: string;
  /** Whether that dominates each member's, and each loser has a row. */
  readonly isComplete: boolean;
}

/**
 * Proposition 14, by the package's own plan: facts that contradict each other pairwise, in one
 * commit, in the given order. `order` has the indexes of the candidates, from 0, each once. Two
 * candidates are equally sure, so confidence alone does not decide.
 * @throws ExperimentError `bad_order`; ArgumentError `bad_argument`
 */
export function folded(strategy: (typeof FOLDS)[number], order: readonly number[]): Folded {
  checkArgument(
    arg.of("'lww' or 'evi'", (value) => FOLDS.includes(value as never)),
    strategy,
    'strategy',
  );
  requireOrder(order);
  const rows = after([], strategy, 1, order.map(memberOf));
  const lost = rows.filter(({ row_kind }) => row_kind === 'audit');
  const texts = [...new Set(lost.map(({ provenance_id }) => provenance_id))];
  const members = order.map((place) => Polynomial.of(writeToken(place)));
  return {
    winner: winnerOf(rows),
    provenance: texts.sort().join(' | '),
    isComplete:
      new Set(lost.map(({ lineage }) => lineage)).size === order.length - 1 &&
      texts.every((text) => members.every((member) => member.precedes(Polynomial.read(text)))),
  };
}

/**
 * The same facts in one commit each, serially in that order, by evidence. Each fact contradicts the
 * winner so far. No two facts are equally sure here, because the order of commits would decide
 * between them. The merged provenance covers all tokens that audit rows name.
 * @throws ExperimentError `bad_order`; ArgumentError `bad_argument`
 */
export function foldedInTurn(order: readonly number[]): Folded {
  requireOrder(order);
  let rows: readonly FactRow[] = [];
  for (const [seq, place] of order.entries())
    rows = after(rows, 'evi', seq + 1, [{ ...memberOf(place), confidence: (1 + place) / 10 }]);
  const lost = rows.filter(({ row_kind }) => row_kind === 'audit');
  const named = lost.map(({ provenance_id }) => Polynomial.read(provenance_id));
  const all = new Set(named.flatMap(({ tokens }) => tokens));
  const winner = winnerOf(rows);
  const losers = order.filter((place) => memberOf(place).claim !== winner);
  return {
    winner,
    provenance: [...all].sort().join(' + '),
    isComplete: losers.every((place) =>
      lost.some(
        ({ lineage }, i) =>
          lineage === memberOf(place).claim && Polynomial.of(writeToken(place)).precedes(named[i]!),
      ),
    ),
  };
}

/** The rows after one commit. An operator that folds asks no judge. */
function after(
  rows: readonly FactRow[],
  strategy: (typeof FOLDS)[number],
  seq: number,
  said: readonly Assertion[],
): readonly FactRow[] {
  const plan = planAssert(
    {
      partition: { space: 'confluence', subject: 'alice', predicate: 'medication' },
      declaration: { cardinality: 'single-valued', strategy, remainder: 'keep' },
      open: rows.filter(isOpen),
      latest: rows.at(-1)?.system_time_start ?? null,
      at: AT,
      seq,
      merge: mergeProvenance,
    },
    said,
  );
  return plan.kind === 'plan' ? applyPlan(rows, plan) : rows;
}

function winnerOf(rows: readonly FactRow[]): string {
  return rows
    .filter(isOpen)
    .map(({ lineage }) => lineage)
    .join(' and ');
}

function requireOrder(order: readonly number[]): void {
  checkArgument(arg.list(arg.whole), order, 'order');
  const size = order.length;
  if (
    size >= 2 &&
    size <= SIZE_MAX &&
    new Set(order).size === size &&
    order.every((place) => place < size)
  )
    return;
  throw new ExperimentError(
    'bad_order',
    `An order must have each index of 2 to ${SIZE_MAX} items exactly once.`,
    {
      evidence: { order: [...order] },
    },
  );
}

/**
 * All orders of so many places, each once; of 8 at most.
 * @throws ArgumentError `bad_argument`
 */
export function* orders(size: number): Generator<readonly number[]> {
  checkArgument(SIZE, size, 'size');
  if (size === 0) {
    yield [];
    return;
  }
  for (const shorter of orders(size - 1))
    for (let at = 0; at < size; at++) yield shorter.toSpliced(at, 0, size - 1);
}

/** There are 40,320 orders of them. */
const SIZE_MAX = 8;
const SIZE = arg.of(
  `a whole number from 0 to ${SIZE_MAX}`,
  (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= SIZE_MAX,
);
const AT = '2026-04-15T00:00:00.000000Z';

/** Two of them are the surest. */
const CONFIDENCES: readonly number[] = [0.5, 0.9, 0.3, 0.9, 0.7, 0.1, 0.6, 0.2];

function memberOf(place: number): Assertion {
  return {
    claim: `claim ${place}`,
    object: `object ${place}`,
    valid: { from: AT, to: OPEN_END },
    confidence: CONFIDENCES[place]!,
    provenance: String(Polynomial.of(writeToken(place))),
  };
}
