import {
  type Hypothesis,
  isTestable,
  type KindOptions,
  type Mine,
  mayBreak,
} from '../hypothesis.ts';
import { isLetThrough, type MiningCall, type MiningRun } from '../run.ts';
import { hypergeometricAtMost, poissonBinomialAtLeast } from '../statistics/tails.ts';

/**
 * Principals and roles that never make a call.
 *
 * Chance: Fisher's exact test over runs. Of all runs, some have the call and some have the name;
 * if the name made no difference, both would meet in some runs.
 */
export const mineNever: Mine = (runs, options) => {
  const both = (['principal', 'role'] as const).map((by) => neverBy(by, runs, options));
  return {
    tested: sum(both.map(({ tested }) => tested)),
    hypotheses: both.flatMap(({ hypotheses }) => hypotheses),
  };
};

function neverBy(
  by: 'principal' | 'role',
  runs: readonly MiningRun[],
  options: KindOptions,
): ReturnType<Mine> {
  const withName = new Map<string, Set<string>>();
  const withTool = new Map<string, Set<string>>();
  const meetings = new Map<string, Map<string, Set<string>>>();
  for (const { id, calls } of runs) {
    for (const call of calls) {
      const name = call[by];
      if (name === undefined || !isLetThrough(call)) continue;
      added(withName, name, id);
      added(withTool, call.tool, id);
      const ofTool = meetings.get(call.tool) ?? new Map<string, Set<string>>();
      meetings.set(call.tool, ofTool);
      added(ofTool, name, id);
    }
  }
  const all = new Set([...withName.values()].flatMap((ids) => [...ids])).size;
  const hypotheses: Hypothesis[] = [];
  let tested = 0;
  for (const [tool, toolRuns] of withTool) {
    for (const [name, nameRuns] of withName) {
      if (toolRuns.size < options.minSupport || nameRuns.size < options.minSupport) continue;
      if (!isTestable(hypergeometricAtMost(all, nameRuns.size, toolRuns.size, 0))) continue;
      tested++;
      const met = meetings.get(tool)?.get(name)?.size ?? 0;
      if (met > mayBreak(Math.min(toolRuns.size, nameRuns.size), options)) continue;
      const p = hypergeometricAtMost(all, nameRuns.size, toolRuns.size, met);
      hypotheses.push({ rule: { kind: 'never', tool, by, names: [name] }, p });
    }
  }
  return { tested, hypotheses };
}

function added(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key) ?? new Set<string>();
  set.add(value);
  sets.set(key, set);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/**
 * Pairs of calls of one run that different principals make.
 *
 * Chance: the null hypothesis is that the principals of a run are spread over its calls at random.
 * Two calls then have different ones with the share of such pairs in the run.
 */
export const mineApart: Mine = (runs, options) => {
  const pairs = new Map<
    string,
    { readonly tool: string; readonly other: string; readonly cases: Apart[] }
  >();
  for (const { calls } of runs) {
    const made = calls.filter((call) => isLetThrough(call) && call.principal !== undefined);
    const differ = shareOfDifferent(made);
    if (differ === 0) continue;
    for (const [other, tool, isApart] of orderedPairs(made)) {
      const key = `${other}\n${tool}`;
      const pair = pairs.get(key) ?? { tool, other, cases: [] };
      pairs.set(key, pair);
      pair.cases.push({ differ, isApart });
    }
  }
  const tested = [...pairs.values()].filter(
    ({ cases }) => cases.length >= options.minSupport && isTestable(chanceOf(cases, cases.length)),
  );
  const hypotheses = tested.flatMap(({ tool, other, cases }): Hypothesis[] => {
    const apart = cases.filter(({ isApart }) => isApart).length;
    if (cases.length - apart > mayBreak(cases.length, options)) return [];
    const p = chanceOf(cases, apart);
    return [{ rule: { kind: 'apart', tool, other }, p }];
  });
  return { tested: tested.length, hypotheses };
};

function chanceOf(cases: readonly Apart[], apart: number): number {
  return poissonBinomialAtLeast(
    cases.map(({ differ }) => differ),
    apart,
  );
}

interface Apart {
  readonly differ: number;
  readonly isApart: boolean;
}

/** The share of pairs of calls that have different principals. */
function shareOfDifferent(calls: readonly MiningCall[]): number {
  const counts = new Map<string | undefined, number>();
  for (const { principal } of calls) counts.set(principal, (counts.get(principal) ?? 0) + 1);
  const n = calls.length;
  if (n < 2) return 0;
  return 1 - sum([...counts.values()].map((count) => count * (count - 1))) / (n * (n - 1));
}

/** The pairs of tools in order, and whether no later call has a principal of an earlier one. */
function* orderedPairs(calls: readonly MiningCall[]): Generator<[string, string, boolean]> {
  const tools = [...new Set(calls.map(({ tool }) => tool))];
  for (const tool of tools) {
    for (const other of tools) {
      if (tool === other) continue;
      const earlier = new Set<string | undefined>();
      let isPair = false;
      let isApart = true;
      for (const call of calls) {
        if (call.tool === other) earlier.add(call.principal);
        if (call.tool !== tool || earlier.size === 0) continue;
        isPair = true;
        isApart &&= !earlier.has(call.principal);
      }
      if (isPair) yield [other, tool, isApart];
    }
  }
}
