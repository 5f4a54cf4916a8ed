import { arg, checkArgument, type Json } from 'assize/internal/base';
import { contentHash } from 'assize/internal/canon';
import type { Hypothesis, KindOptions, Mine } from './hypothesis.ts';
import { type CallPlace, judge } from './judge.ts';
import { mineAllows } from './kinds/allows.ts';
import { mineApprovals } from './kinds/approvals.ts';
import { mineBounds } from './kinds/bounds.ts';
import { mineOrderings } from './kinds/orderings.ts';
import { minePrefixes } from './kinds/prefixes.ts';
import { mineRates } from './kinds/rates.ts';
import { mineApart, mineNever } from './kinds/separations.ts';
import { mineValues } from './kinds/values.ts';
import { KINDS, type MinedKind, type MinedRule, RULE } from './rule.ts';
import { type CallEntry, checkRuns, type MiningRun } from './run.ts';
import { statementOf } from './statement.ts';
import { acceptedUpTo } from './statistics/tails.ts';
import { whyNone } from './why-none.ts';
import { withoutImplied } from './without-implied.ts';

/** Settings of a search for rules. */
export interface MiningOptions {
  /** Default: all kinds. */
  readonly kinds?: readonly MinedKind[];
  /** The least number of runs that a rule is about. Default: 5. */
  readonly minSupport?: number;
  /** The largest share of cases that may break a rule, from 0 to 0.5. Default: 0.05. */
  readonly exceptions?: number;
  /**
   * The expected share of rules in the result that hold by chance, from 0 to 0.5. Default: 0.05.
   */
  readonly chance?: number;
}

/** A call that breaks a rule. */
export interface CounterExample extends CallPlace {
  readonly entry?: CallEntry;
}

/** A rule that runs obey, and how well. */
export interface Candidate {
  /** A hash of the rule, such as `ordering-3f2a91c0`. It can be the id of a written rule. */
  readonly id: string;
  readonly kind: MinedKind;
  readonly rule: MinedRule;
  /** The rule as one sentence. */
  readonly statement: string;
  /** The committed calls that the rule is about, their runs and agents. */
  readonly support: {
    readonly runs: number;
    readonly calls: number;
    readonly agents: readonly string[];
  };
  /** The share of these calls that obey the rule. */
  readonly confidence: number;
  /** The probability that the rule holds as it does by accident; the file of its kind says how. */
  readonly p: number;
  readonly counter_example_count: number;
  /** The first twenty. */
  readonly counter_examples: readonly CounterExample[];
}

const SHARE = arg.optional(
  arg.of(
    'a number from 0 to 0.5',
    (value) => typeof value === 'number' && value >= 0 && value <= 0.5,
  ),
);
const OPTIONS = arg.options<MiningOptions>({
  kinds: arg.optional(arg.list(arg.oneOf(KINDS))),
  minSupport: arg.optional(arg.wholeFrom(1)),
  exceptions: SHARE,
  chance: SHARE,
});

const MINERS: Readonly<Record<MinedKind, Mine>> = {
  allow: mineAllows,
  bound: mineBounds,
  values: mineValues,
  prefix: minePrefixes,
  ordering: mineOrderings,
  approval: mineApprovals,
  never: mineNever,
  apart: mineApart,
  rate: mineRates,
};

const NO_ANSWER =
  'No rule answers a question of enough runs: the calls are let through or refused, or a person should be asked.';

/** The most counter-examples of one candidate. */
const LISTED_MAX = 20;

/**
 * The rules that runs obey, the most certain first. Rules that hold by chance are dropped: of the
 * result, a share of `chance` is expected to be such rules (Benjamini and Hochberg). The result
 * depends on the runs and their order alone.
 *
 * @throws ArgumentError `bad_argument`; MiningError `bad_argument`
 */
export function mine(
  runs: readonly MiningRun[],
  options: MiningOptions = {},
): readonly Candidate[] {
  return search(runs, options).candidates;
}

/**
 * The rules of `mine`, and the reason if there are none.
 *
 * @throws the errors of `mine`
 */
export function search(
  runs: readonly MiningRun[],
  options: MiningOptions = {},
): { readonly candidates: readonly Candidate[]; readonly none?: string } {
  checkArgument(OPTIONS, options, 'options');
  checkRuns(runs);
  const { kinds = KINDS, minSupport = 5, exceptions = 0.05, chance = 0.05 } = options;
  const settings: KindOptions = { minSupport, exceptions };
  const found = KINDS.filter((kind) => kinds.includes(kind)).map((kind) =>
    MINERS[kind](runs, settings),
  );
  const hypotheses = found.flatMap((each) => each.hypotheses);
  const tested = found.reduce((sum, each) => sum + each.tested, 0);
  const largest = acceptedUpTo(
    hypotheses.flatMap(({ rule, p }) => (rule.kind === 'allow' ? [] : [p])),
    tested,
    chance,
  );
  const significant = hypotheses.filter(({ p }) => p <= largest);
  const candidates = withoutImplied(significant)
    .map((hypothesis) => candidateOf(hypothesis, runs))
    .filter(({ support }) => support.runs >= minSupport)
    .sort((a, b) => a.p - b.p || b.support.calls - a.support.calls || (a.id < b.id ? -1 : 1));
  if (candidates.length > 0) return { candidates };
  if (kinds.every((kind) => kind === 'allow')) return { candidates, none: NO_ANSWER };
  const numbers = {
    runs: runs.length,
    tested,
    obeyed: hypotheses.length,
    significant: significant.length,
  };
  return { candidates, none: whyNone({ ...numbers, ...settings }) };
}

/**
 * A rule with its support and its counter-examples in any runs, such as all runs with the bad ones.
 *
 * @throws ArgumentError `bad_argument`; MiningError `bad_argument`
 */
export function judgeRule(rule: MinedRule, runs: readonly MiningRun[]): Omit<Candidate, 'p'> {
  checkArgument(RULE, rule, 'rule');
  checkRuns(runs);
  const { p: _, ...judged } = candidateOf({ rule, p: 1 }, runs);
  return judged;
}

function candidateOf({ rule, p }: Hypothesis, runs: readonly MiningRun[]): Candidate {
  const { about, broken } = judge(rule, runs);
  const byId = new Map(runs.map((run) => [run.id, run]));
  const agents = about.flatMap(({ run, call }) => byId.get(run)?.calls[call]?.principal ?? []);
  return {
    id: `${rule.kind}-${contentHash(rule as unknown as Json).slice(0, 8)}`,
    kind: rule.kind,
    rule,
    statement: statementOf(rule),
    support: {
      runs: new Set(about.map(({ run }) => run)).size,
      calls: about.length,
      agents: [...new Set(agents)].sort(),
    },
    confidence: about.length === 0 ? 1 : 1 - broken.length / about.length,
    p,
    counter_example_count: broken.length,
    counter_examples: broken.slice(0, LISTED_MAX).map((place) => {
      const entry = byId.get(place.run)?.calls[place.call]?.entry;
      return { ...place, ...(entry === undefined ? {} : { entry }) };
    }),
  };
}
