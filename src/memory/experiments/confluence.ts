import { form, requireForm } from '#canon';
import type { FactRow } from '../fact.ts';
import { OPEN_END } from '../period.ts';
import { type Assertion, planAssert } from '../plan.ts';
import { mergeProvenance, Polynomial, writeToken } from '../provenance/index.ts';
import type { Strategy } from '../strategy.ts';
import { ExperimentError } from './errors.ts';

/** The operators that fold a conflict set; the other two select from it (Remark 3). */
export const FOLDS = ['lww', 'evi'] as const satisfies readonly Strategy[];

/** What a conflict set comes to, met in one order. */
export interface Folded {
  /** The claim that is believed. */
  readonly winner: string;
  /** What every audit row says of where all of it comes from. */
  readonly provenance: string;
  /** Whether that dominates each member's, and each loser has a row. */
  readonly isComplete: boolean;
}

/**
 * Proposition 14, by the package's own plan: so many facts that contradict each other pairwise, in one commit, in the order that is given:
 * the places of the members, from 0, each once. Two of them are equally sure, so that confidence alone does not decide.
 * @throws ExperimentError `bad_order`; ArgumentError `bad_argument`
 */
export function folded(strategy: (typeof FOLDS)[number], order: readonly number[]): Folded {
  requireForm(
    form.of("'lww' or 'evi'", (value) => FOLDS.includes(value as never)),
    strategy,
    'strategy',
  );
  requireForm(form.list(form.whole), order, 'order');
  const size = order.length;
  if (size < 2 || size > SIZE_MAX || new Set(order).size !== size || order.some((place) => place >= size))
    throw new ExperimentError('bad_order', `An order has the places from 0 of 2 to ${SIZE_MAX} members, each once.`, {
      evidence: { order: [...order] },
    });
  const plan = planAssert(
    {
      partition: { space: 'confluence', subject: 'alice', predicate: 'medication' },
      declaration: { cardinality: 'single-valued', strategy, remainder: 'keep' },
      open: [],
      latest: null,
      at: AT,
      seq: 1,
      merge: mergeProvenance,
    },
    order.map((place) => MEMBERS[place]!),
  );
  // Nobody is asked by an operator that folds.
  const rows: readonly FactRow[] = plan.kind === 'plan' ? plan.insert : [];
  const [believed] = rows.filter(({ row_kind }) => row_kind === 'current');
  const lost = rows.filter(({ row_kind }) => row_kind === 'audit');
  const texts = new Set(lost.map(({ provenance_id }) => provenance_id));
  const merged = [...texts].map((text) => Polynomial.read(text));
  const members = order.map((place) => Polynomial.of(writeToken(place)));
  return {
    winner: believed!.lineage,
    provenance: [...texts].sort().join(' | '),
    isComplete:
      new Set(lost.map(({ lineage }) => lineage)).size === size - 1 &&
      merged.every((sum) => members.every((member) => member.precedes(sum))),
  };
}

/**
 * All orders of so many places, each once; of 8 at most.
 * @throws ArgumentError `bad_argument`
 */
export function* orders(size: number): Generator<readonly number[]> {
  requireForm(SIZE, size, 'size');
  if (size === 0) {
    yield [];
    return;
  }
  for (const shorter of orders(size - 1)) for (let at = 0; at < size; at++) yield shorter.toSpliced(at, 0, size - 1);
}

/** There are 40,320 orders of them. */
const SIZE_MAX = 8;
const SIZE = form.of(
  `a whole number from 0 to ${SIZE_MAX}`,
  (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= SIZE_MAX,
);
const AT = '2026-04-15T00:00:00.000000Z';

const MEMBERS: readonly Assertion[] = Array.from({ length: SIZE_MAX }, (_, i) => ({
  claim: `claim ${i}`,
  object: `object ${i}`,
  valid: { from: AT, to: OPEN_END },
  confidence: [0.5, 0.9, 0.3, 0.9, 0.7, 0.1, 0.6, 0.2][i]!,
  provenance: String(Polynomial.of(writeToken(i))),
}));
