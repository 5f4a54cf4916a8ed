import { type Hypothesis, isTestable, type KindOptions, type Mine, mayBreak } from '../hypothesis.ts';
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
  const calls = runs.flatMap((run) => run.calls.filter(isLetThrough).map((call) => ({ call, run: run.id })));
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

interface Judged {
  readonly value: number;
  readonly approved: boolean;
}

function isApproved({ approvedBy = [] }: MiningCall): boolean {
  return approvedBy.length > 0;
}

type Placed = { readonly call: MiningCall; readonly run: MiningRun['id'] };

function grouped(calls: readonly Placed[]): Map<string, Placed[]> {
  const groups = new Map<string, Placed[]>();
  for (const one of calls) groups.set(one.call.tool, [...(groups.get(one.call.tool) ?? []), one]);
  return groups;
}

/** The places that have a number in every call. */
function numbersOf(calls: readonly MiningCall[]): [string, Judged[]][] {
  const places = new Map<string, Judged[]>();
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

function thresholdOf(tool: string, path: string, numbers: readonly Judged[], options: KindOptions): Hypothesis[] {
  const thresholds = [...new Set(numbers.map(({ value }) => value))].sort((a, b) => a - b);
  const found = thresholds.slice(1).map((from, i) => {
    const above = numbers.filter(({ value }) => value >= from);
    const below = numbers.length - above.length;
    const approvedAbove = above.filter(({ approved }) => approved).length;
    const approvedBelow = numbers.filter(({ value, approved }) => approved && value < from).length;
    const unapproved = above.length - approvedAbove;
    const fits = unapproved <= mayBreak(above.length, options) && approvedBelow <= mayBreak(below, options);
    return {
      from,
      under: thresholds[i] as number,
      above: above.length,
      approvedAbove,
      faults: unapproved + approvedBelow,
      fits,
    };
  });
  const best = found.filter(({ fits }) => fits).sort((a, b) => a.faults - b.faults)[0];
  if (best === undefined) return [];
  const approved = numbers.filter((one) => one.approved).length;
  const p = hypergeometricAtLeast(numbers.length, approved, best.above, best.approvedAbove);
  const min = roundestIn(best.under, best.from);
  return [{ rule: { kind: 'approval', tool, from: { path, min } }, p: Math.min(1, p * found.length) }];
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
