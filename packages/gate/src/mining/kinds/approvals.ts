import {
  type Hypothesis,
  isTestable,
  type KindOptions,
  type Mine,
  mayBreak,
} from '../hypothesis.ts';
import { isLetThrough, type MiningCall, type MiningRun } from '../run.ts';
import { placesOf } from '../scalars.ts';
import { hypergeometricAtLeast } from '../statistics/tails.ts';

/**
 * Calls that people approve from a number on, and let through below it; and calls that people
 * always approve. The threshold is the roundest number between the two groups.
 *
 * Chance: Fisher's exact test, with as many approvals among the calls, drawn at random. The result
 * for the best threshold is multiplied with the number of possible thresholds. Calls that are
 * always approved are compared with the calls of the other tools.
 */
export const mineApprovals: Mine = (runs, options) => {
  const calls = runs.flatMap((run) =>
    run.calls.filter(isLetThrough).map((call) => ({ call, run: run.id })),
  );
  const approvedAll = calls.filter(({ call }) => isApproved(call)).length;
  let tested = 0;
  const hypotheses: Hypothesis[] = [];
  for (const [tool, own] of grouped(calls)) {
    if (new Set(own.map(({ run }) => run)).size < options.minSupport) continue;
    const approved = own.filter(({ call }) => isApproved(call)).length;
    const always = hypergeometricAtLeast(calls.length, approvedAll, own.length, own.length);
    if (isTestable(always)) tested++;
    if (own.length - approved <= mayBreak(own.length, options)) {
      const p = hypergeometricAtLeast(calls.length, approvedAll, own.length, approved);
      hypotheses.push({ rule: { kind: 'approval', tool }, p });
      continue;
    }
    if (approved === 0) continue;
    if (!isTestable(hypergeometricAtLeast(own.length, approved, approved, approved))) continue;
    for (const [path, numbers] of numbersOf(own.map(({ call }) => call))) {
      tested++;
      hypotheses.push(...thresholdOf(tool, path, numbers, options));
    }
  }
  return { tested, hypotheses };
};

/** A call with the number at one place of its arguments. */
interface NumberedCall {
  readonly value: number;
  readonly approved: boolean;
}

function isApproved({ approvedBy = [] }: MiningCall): boolean {
  return approvedBy.length > 0;
}

type Placed = { readonly call: MiningCall; readonly run: MiningRun['id'] };

function grouped(calls: readonly Placed[]): Map<string, Placed[]> {
  return Map.groupBy(calls, ({ call }) => call.tool);
}

/** The places that have a number in every call. */
function numbersOf(calls: readonly MiningCall[]): [string, NumberedCall[]][] {
  const places = new Map<string, NumberedCall[]>();
  for (const call of calls) {
    for (const { path, of, value } of placesOf(call.args)) {
      if (of !== 'value' || typeof value !== 'number') continue;
      const numbers = places.get(path) ?? [];
      numbers.push({ value, approved: isApproved(call) });
      places.set(path, numbers);
    }
  }
  return [...places].filter(([, numbers]) => numbers.length === calls.length);
}

/**
 * The threshold that separates approved from unapproved calls with the fewest exceptions. Empty if
 * every one has too many.
 */
function thresholdOf(
  tool: string,
  path: string,
  numbers: readonly NumberedCall[],
  options: KindOptions,
): Hypothesis[] {
  const sorted = [...numbers].sort((a, b) => a.value - b.value);
  const approved = sorted.filter((one) => one.approved).length;
  let best:
    | { readonly at: number; readonly approvedBelow: number; readonly faults: number }
    | undefined;
  let approvedBelow = 0;
  let thresholds = 0;
  for (let at = 1; at < sorted.length; at++) {
    if (sorted[at - 1]?.approved === true) approvedBelow++;
    if (sorted[at]?.value === sorted[at - 1]?.value) continue;
    thresholds++;
    const above = sorted.length - at;
    const unapproved = above - (approved - approvedBelow);
    if (unapproved > mayBreak(above, options) || approvedBelow > mayBreak(at, options)) continue;
    const faults = unapproved + approvedBelow;
    if (best === undefined || faults < best.faults) best = { at, approvedBelow, faults };
  }
  if (best === undefined) return [];
  const p = hypergeometricAtLeast(
    sorted.length,
    approved,
    sorted.length - best.at,
    approved - best.approvedBelow,
  );
  const [under, from] = [sorted[best.at - 1] as NumberedCall, sorted[best.at] as NumberedCall];
  const min = roundestIn(under.value, from.value);
  return [
    { rule: { kind: 'approval', tool, from: { path, min } }, p: Math.min(1, p * thresholds) },
  ];
}

/** The number with the fewest digits that is above `under`, and at most `from`. */
export function roundestIn(under: number, from: number): number {
  if (under < 0 && from >= 0) return 0;
  const largest = Math.max(Math.abs(under), Math.abs(from));
  for (let unit = 10 ** Math.ceil(Math.log10(largest)); unit >= 1e-6; unit /= 10) {
    const rounded = Number((Math.floor(from / unit + 1e-9) * unit).toPrecision(12));
    if (rounded > under && rounded <= from) return rounded;
  }
  return from;
}
