import { gateway, gatewayUnder, type Rules, readRules } from '@assize/gate/internal/gateway';
import {
  type GatewayRule,
  type RuleBacktest,
  type RuleDifference,
  ruleLine,
  WRITTEN,
} from '@assize/gate/internal/mining';
import { arg, checkArgument } from 'assize/internal/base';
import { canonicalize, WORLD_LIMITS } from 'assize/internal/canon';
import type { Hash, LedgerStore } from 'assize/internal/ledger';
import { type BacktestOptions, backtestStore } from './backtest.ts';
import type { BacktestReport, VerdictDifference } from './verdicts.ts';

export interface RuleBacktestOptions extends Pick<BacktestOptions, 'oracle' | 'onProgress'> {
  /** Trajectories of the domain `gateway`. */
  readonly trajectoryIds: readonly string[];
  /** Each rule is added to these rules, such as those of a file. */
  readonly rules: Rules;
}

const OPTIONS = arg.options<RuleBacktestOptions>({
  trajectoryIds: arg.list(arg.text),
  rules: arg.object,
  oracle: arg.any,
  onProgress: arg.any,
});
/** The most differences of one rule in a report. */
const LISTED_MAX = 20;
/** More than the differences of any store: those of two backtests are compared as a whole. */
const ALL = 1_000_000;

/**
 * Rules on the recorded calls under given rules, and under them with one more rule, for each of
 * the rules. Only the differences between the two are listed, so a file that is not the recorded
 * one adds none.
 *
 * @throws the errors of `backtestStore`; ArgumentError `bad_argument`
 */
export async function backtestRules(
  store: LedgerStore,
  added: readonly GatewayRule[],
  options: RuleBacktestOptions,
): Promise<readonly RuleBacktest[]> {
  checkArgument(WRITTEN, added, 'added');
  checkArgument(OPTIONS, options, 'options');
  const { rules, ...rest } = options;
  const run = (tried: Rules): Promise<BacktestReport[]> =>
    backtestStore(store, {
      domains: [gateway()],
      instead: [gatewayUnder(tried)],
      limit: ALL,
      ...rest,
    });
  const without = await run(rules);
  const reports: RuleBacktest[] = [];
  for (const rule of added) reports.push(compared(without, await run(rulesWith(rules, rule))));
  return reports;
}

/** Rules with one more. @throws GatewayError `bad_rules` */
function rulesWith(rules: Rules, rule: GatewayRule): Rules {
  const { [rule.list]: list } = readRules(
    `id: mined\n${rule.list}:\n  ${ruleLine(rule)}\n`,
    'the mined rule',
  ).rules;
  return { ...rules, [rule.list]: [...rules[rule.list], ...list] };
}

function compared(
  without: readonly BacktestReport[],
  under: readonly BacktestReport[],
): RuleBacktest {
  const [before, after] = [byEntry(without), byEntry(under)];
  const places = [
    ...after.values(),
    ...[...before.values()].filter(({ entry_id }) => !after.has(entry_id)),
  ];
  const differences = places.flatMap(
    ({ trajectory_id, seq, entry_id, action, at, recorded }): RuleDifference[] => {
      const [was, is] = [
        before.get(entry_id)?.now ?? recorded,
        after.get(entry_id)?.now ?? recorded,
      ];
      if (withoutDetail(was) === withoutDetail(is)) return [];
      return [{ trajectory_id, seq, entry_id, action, at, without: was, with: is }];
    },
  );
  const changes: Record<string, number> = {};
  for (const difference of differences) {
    const kind = `${difference.without['ruling']}_to_${difference.with['ruling']}`;
    changes[kind] = (changes[kind] ?? 0) + 1;
  }
  return {
    judged: under.reduce((sum, { judged }) => sum + judged, 0),
    difference_count: differences.length,
    changes,
    differences: differences.slice(0, LISTED_MAX),
  };
}

/** A ruling without its detail, to which each further rule that asks adds its reason. */
function withoutDetail({ detail: _, ...ruling }: RuleDifference['with']): string {
  return canonicalize(ruling, WORLD_LIMITS);
}

function byEntry(reports: readonly BacktestReport[]): Map<Hash, VerdictDifference> {
  return new Map(
    reports.flatMap(({ differences }) => differences).map((each) => [each.entry_id, each]),
  );
}
