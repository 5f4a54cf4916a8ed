import { toPointer } from 'assize/internal/canon';
import {
  type Hypothesis,
  isTestable,
  type KindOptions,
  type Mine,
  mayBreak,
} from '../hypothesis.ts';
import type { OrderingRule, Scalar } from '../rule.ts';
import { isDone, isLetThrough, type MiningCall, type MiningRun } from '../run.ts';
import { placesOf } from '../scalars.ts';
import { poissonBinomialAtLeast } from '../statistics/tails.ts';
import { type Case, Cases } from './cases.ts';

/**
 * Calls that follow another call of the same run that is done. A case is a run, or a run with one
 * value of an argument. Where the earlier call has the value too in at least half of the cases, it
 * must have the value, and a rule without the value is not considered.
 *
 * Chance: the null hypothesis is that the calls of a run are in random order. If a case has `a`
 * earlier and `b` later calls of the two tools, the first of them is an earlier one with
 * probability `a / (a + b)`. A case without an earlier call counts against the rule.
 */
export const mineOrderings: Mine = (runs, options) => {
  const onRun = new Cases();
  const onValue = new Cases();
  for (const run of runs) {
    onRun.add(run.id, tools(run));
    onValue.add(run.id, values(run));
  }
  const sharing = onValue
    .pairs()
    .filter(({ later, both, all }) => isName(later.values) && 2 * both.length >= all);
  const isSharing = new Set(sharing.map(({ needs, later }) => pairOf(needs.tool, later.tool)));
  const plain = onRun
    .pairs()
    .filter(({ needs, later }) => !isSharing.has(pairOf(needs.tool, later.tool)));
  const tested = [...sharing, ...plain].filter(
    ({ later, both, all }) =>
      later.runs.size >= options.minSupport &&
      all - both.length <= mayBreak(all, options) &&
      isTestable(chanceOf(both, both.length)),
  );
  return { tested: tested.length, hypotheses: tested.flatMap((pair) => ordered(pair, options)) };
};

type Pair = ReturnType<Cases['pairs']>[number];

function ordered({ needs, later, both, all }: Pair, options: KindOptions): Hypothesis[] {
  const held = both.filter(({ isFirst }) => isFirst).length;
  if (all - held > mayBreak(all, options)) return [];
  const p = chanceOf(both, held);
  const on =
    later.path === undefined ? {} : { on: { path: later.path, needsPath: needs.path as string } };
  const rule: OrderingRule = { kind: 'ordering', tool: later.tool, needs: needs.tool, ...on };
  return [{ rule, p }];
}

/** The chance that an earlier call is the first in at least `held` cases. */
function chanceOf(both: Pair['both'], held: number): number {
  return poissonBinomialAtLeast(
    both.map(({ earlier, later }) => earlier / (earlier + later)),
    held,
  );
}

function pairOf(needs: string, tool: string): string {
  return toPointer([needs, tool]);
}

/** An argument that names things has several values; most cases have none of them. */
const NAMES_MIN = 3;

function isName(values: ReadonlyMap<Scalar, number>): boolean {
  const counts = [...values.values()];
  const all = counts.reduce((sum, each) => sum + each, 0);
  return counts.length >= NAMES_MIN && 2 * Math.max(...counts) <= all;
}

function tools({ calls }: MiningRun): Case[] {
  return calls.map((call, at) => ({ tool: call.tool, at, ...standing(call) }));
}

function values({ calls }: MiningRun): Case[] {
  return calls.flatMap((call, at) =>
    placesOf(call.args)
      .filter(
        ({ of, value }) =>
          of === 'value' && (typeof value === 'string' || typeof value === 'number'),
      )
      .map(({ path, value }) => ({ tool: call.tool, path, value, at, ...standing(call) })),
  );
}

function standing(call: MiningCall): Pick<Case, 'isDone' | 'isLetThrough'> {
  return { isDone: isDone(call), isLetThrough: isLetThrough(call) };
}
