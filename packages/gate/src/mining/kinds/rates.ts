import {
  type Hypothesis,
  isTestable,
  type KindOptions,
  type Mine,
  mayBreak,
} from '../hypothesis.ts';
import { rateGroup } from '../judge.ts';
import type { RateRule } from '../rule.ts';
import { isLetThrough, type MiningRun } from '../run.ts';
import { binomialAtMost, poissonBinomialAtLeast } from '../statistics/tails.ts';
import { roundedUp } from './bounds.ts';

const PERIODS: readonly RateRule['per'][] = ['run', 'minute', 'hour', 'day'];

/**
 * The most calls of a tool by one principal in a run, or in a minute, an hour or a day of UTC.
 *
 * Chance: the null hypothesis is that each call of a group is a call of the tool with the same
 * probability: the share of the tool among all calls of the principal. So no rate is found for a
 * tool that is rare, or the only one.
 */
export const mineRates: Mine = (runs, options) => {
  const tested = PERIODS.flatMap((per) => [...tallies(per, runs, options)]).filter(({ groups }) => {
    const least = Math.max(1, Math.ceil(sum(groups) / groups.length));
    return isTestable(chanceOf(groups, least, groups.length));
  });
  return { tested: tested.length, hypotheses: tested.flatMap((tally) => rateOf(tally, options)) };
};

/** The calls of one principal in one run or window. */
interface Group {
  readonly principal: string;
  all: number;
  readonly byTool: Map<string, number>;
}

interface Tally {
  readonly tool: string;
  readonly per: RateRule['per'];
  /** All groups, also those without a call of the tool. */
  readonly groups: readonly (Pick<Group, 'principal' | 'all'> & { readonly own: number })[];
}

function* tallies(
  per: RateRule['per'],
  runs: readonly MiningRun[],
  { minSupport }: KindOptions,
): Generator<Tally> {
  const groups = new Map<string, Group>();
  const runsOf = new Map<string, Set<string>>();
  for (const { id, calls } of runs) {
    for (const call of calls) {
      const key = isLetThrough(call) ? rateGroup(per, call, id) : undefined;
      if (key === undefined) continue;
      const group = groups.get(key) ?? {
        principal: call.principal ?? '',
        all: 0,
        byTool: new Map(),
      };
      groups.set(key, group);
      group.all++;
      group.byTool.set(call.tool, (group.byTool.get(call.tool) ?? 0) + 1);
      runsOf.set(call.tool, (runsOf.get(call.tool) ?? new Set()).add(id));
    }
  }
  for (const [tool, own] of runsOf) {
    if (own.size < minSupport) continue;
    const counted = [...groups.values()].map(({ byTool, ...group }) => ({
      ...group,
      own: byTool.get(tool) ?? 0,
    }));
    yield { tool, per, groups: counted };
  }
}

function rateOf({ tool, per, groups }: Tally, options: KindOptions): Hypothesis[] {
  const counts = groups
    .map(({ own }) => own)
    .filter((own) => own > 0)
    .sort((a, b) => b - a);
  const max = roundedUp(counts[mayBreak(counts.length, options)] as number);
  const within = groups.filter(({ own }) => own <= max).length;
  return [{ rule: { kind: 'rate', tool, per, max }, p: chanceOf(groups, max, within) }];
}

/** The chance that at least `within` groups have at most `max` calls of the tool. */
function chanceOf(groups: Tally['groups'], max: number, within: number): number {
  const shares = sharesOf(groups);
  const known = new Map<string, number>();
  const chances = groups.map(({ principal, all }) => {
    const key = `${all} ${principal}`;
    const chance = known.get(key) ?? binomialAtMost(all, shares.get(principal) as number, max);
    known.set(key, chance);
    return chance;
  });
  return poissonBinomialAtLeast(chances, within);
}

function sum(groups: Tally['groups']): number {
  return groups.reduce((total, { own }) => total + own, 0);
}

/** The share of the calls of the tool among all calls of each principal. */
function sharesOf(groups: Tally['groups']): Map<string, number> {
  const sums = new Map<string, { all: number; own: number }>();
  for (const { principal, all, own } of groups) {
    const sum = sums.get(principal) ?? { all: 0, own: 0 };
    sums.set(principal, { all: sum.all + all, own: sum.own + own });
  }
  return new Map([...sums].map(([principal, { all, own }]) => [principal, own / all]));
}
