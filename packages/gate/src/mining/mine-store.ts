import { arg, checkArgument, isAssizeError } from 'assize/internal/base';
import { type LedgerStore, Replayer, readRow } from 'assize/internal/ledger';
import { enforcing, type GatewayState, type Rules, rulesInForce } from '#gateway';
import { MiningError } from './errors.ts';
import { withAnswers } from './kinds/allows.ts';
import { type Candidate, judgeRule, type MiningOptions, search } from './mine.ts';
import { readRuns } from './read/read-runs.ts';
import { KINDS } from './rule.ts';
import type { BacktestRules, RuleBacktest } from './rule-backtest.ts';
import { isLetThrough, type MiningRun } from './run.ts';
import { rulesText } from './write/add-to-file.ts';
import { type GatewayRule, gatewayRule, type WriteOptions } from './write/gateway-rule.ts';

/** A mined rule with its judgement on all runs, and its form in a rules file. */
export interface MinedCandidate extends Candidate {
  /** The same figures over all runs, with those that are not good. */
  readonly everywhere: Pick<Candidate, 'support' | 'counter_example_count' | 'counter_examples'>;
  /** The rule for `assize.yaml`, where that file has a place for it. */
  readonly written?: GatewayRule & {
    /** The rule as lines of the file. */
    readonly text: string;
    /** Absent without a trajectory of the gateway. */
    readonly backtest?: RuleBacktest;
  };
  /** Why the rules file has no place for the rule. */
  readonly not_written?: string;
}

export interface MiningReport {
  /** The runs, the good ones among them, and their committed calls. */
  readonly runs: number;
  readonly good: number;
  readonly calls: number;
  /** Actions whose arguments were erased. They are in no run. */
  readonly erased: number;
  readonly candidates: readonly MinedCandidate[];
  /** Why there are no candidates, in one or two sentences. Absent if there are some. */
  readonly none?: string;
}

export interface MineStoreOptions extends MiningOptions, WriteOptions {
  /** Default: all trajectories of the store. */
  readonly trajectoryIds?: readonly string[];
  /** The ids of the runs that are mined. Default: all. */
  readonly good?: readonly string[];
  /** Each rule is added to these. Default: the rules in force in the first trajectory. */
  readonly rules?: Rules;
  /** Backtests rules: `backtestRules` of `@assize/audit`. Default: no rule is backtested. */
  readonly backtest?: BacktestRules;
  /** The ids of the rules that are backtested. Default: all that a rules file has a place for. */
  readonly backtested?: readonly string[];
  /** Called now and then with the step, and the number of parts done, and of all. */
  readonly onProgress?: (
    step: 'reading runs' | 'backtesting rules',
    done: number,
    total: number,
  ) => void;
}

const TEXTS = arg.optional(arg.list(arg.text));
const SHARE = arg.optional(arg.number);
const OPTIONS = arg.options<MineStoreOptions>({
  trajectoryIds: TEXTS,
  good: TEXTS,
  rules: arg.optional(arg.object),
  backtest: arg.optional(arg.code),
  backtested: TEXTS,
  effect: arg.optional(arg.oneOf(['ask', 'deny'])),
  kinds: arg.optional(arg.list(arg.oneOf(KINDS))),
  minSupport: arg.optional(arg.wholeFrom(1)),
  exceptions: SHARE,
  chance: SHARE,
  onProgress: arg.optional(arg.code),
});

/**
 * Mines the runs of a store, judges each rule on all of its runs, and backtests each rule that a
 * rules file has a place for. Writes nothing.
 *
 * @throws MiningError `bad_argument`, `not_found`; ArgumentError `bad_argument`; LedgerFault; the
 * errors of `backtestStore` and of the store
 */
export async function mineStore(
  store: LedgerStore,
  options: MineStoreOptions = {},
): Promise<MiningReport> {
  checkArgument(OPTIONS, options, 'options');
  const {
    trajectoryIds: named,
    good,
    rules,
    backtest,
    backtested,
    effect,
    onProgress,
    ...mining
  } = options;
  const trajectoryIds =
    named ?? (await store.trajectories()).map(({ trajectory_id }) => trajectory_id);
  const { runs: read, erased } = await readRuns(store, trajectoryIds, {
    onProgress: (done, total) => onProgress?.('reading runs', done, total),
  });
  const gateways = await gatewaysOf(store, trajectoryIds);
  const recorded = await recordedState(store, gateways);
  const given = rules ?? (recorded && rulesInForce(recorded));
  // Observed rules count as they will hold.
  const base = given && enforcing(given);
  const runs = base === undefined ? read : withAnswers(read, base, recorded?.pins);
  const mined = good === undefined ? runs : goodRuns(good, runs);
  const { candidates, none } = search(mined, mining);
  const forms = candidates.map((candidate) => formOf(candidate, base?.tools, effect));
  const tried = forms.filter(
    (form): form is WrittenRule =>
      !('why' in form) && (backtested?.includes(form.value.id) ?? true),
  );
  const backtests = new Map<object, RuleBacktest>();
  // Without rules there is nothing that a rule can be added to.
  if (backtest !== undefined && base !== undefined && gateways.length > 0 && tried.length > 0) {
    const reports = await backtest(store, tried, {
      ...{ trajectoryIds: gateways, rules: base },
      onProgress: (done, total) => onProgress?.('backtesting rules', done, total),
    });
    for (const [i, rule] of tried.entries()) backtests.set(rule, reports[i]!);
  }
  return {
    runs: runs.length,
    good: mined.length,
    calls: mined.reduce((sum, { calls }) => sum + calls.filter(isLetThrough).length, 0),
    erased,
    ...(none === undefined ? {} : { none }),
    candidates: candidates.map((candidate, i) =>
      minedCandidate(candidate, forms[i]!, runs, backtests),
    ),
  };
}

/** The runs with these ids. @throws MiningError `not_found` */
function goodRuns(good: readonly string[], runs: readonly MiningRun[]): readonly MiningRun[] {
  const known = new Set(runs.map(({ id }) => id));
  const unknown = good.find((id) => !known.has(id));
  const wanted = new Set(good);
  if (unknown === undefined) return runs.filter(({ id }) => wanted.has(id));
  const remedy =
    runs[0] === undefined
      ? 'The trajectories have no runs; pass others'
      : `Pass ids of runs of these trajectories, such as ${runs[0].id}`;
  throw new MiningError('not_found', `No run has the id ${unknown}. ${remedy}.`, {
    evidence: { id: unknown },
  });
}

/** A rule in its form for a rules file, before its backtest. */
type WrittenRule = Omit<NonNullable<MinedCandidate['written']>, 'backtest'>;

/** The form of a candidate in a rules file, or the reason why that file has no place for it. */
function formOf(
  candidate: Candidate,
  tools: Rules['tools'] | undefined,
  effect: WriteOptions['effect'],
): WrittenRule | { readonly why: string } {
  try {
    const rule = gatewayRule(candidate, tools, effect === undefined ? {} : { effect });
    return { ...rule, text: rulesText([rule]) };
  } catch (error) {
    if (isAssizeError(error, 'not_expressible')) return { why: error.message };
    throw error;
  }
}

function minedCandidate(
  candidate: Candidate,
  form: ReturnType<typeof formOf>,
  runs: readonly MiningRun[],
  backtests: ReadonlyMap<object, RuleBacktest>,
): MinedCandidate {
  const { support, counter_example_count, counter_examples } = judgeRule(candidate.rule, runs);
  const everywhere = { support, counter_example_count, counter_examples };
  if ('why' in form) return { ...candidate, not_written: form.why, everywhere };
  const backtest = backtests.get(form);
  return {
    ...candidate,
    everywhere,
    written: { ...form, ...(backtest === undefined ? {} : { backtest }) },
  };
}

/** The trajectories of the domain `gateway`. */
async function gatewaysOf(store: LedgerStore, trajectoryIds: readonly string[]): Promise<string[]> {
  const gateways: string[] = [];
  for (const id of new Set(trajectoryIds)) {
    const [row] = await store.entries(id, { from: 0, limit: 1 });
    const first = row === undefined ? undefined : readRow(row).payload;
    if ((first?.kind === 'root' || first?.kind === 'branch') && first.domain.name === 'gateway')
      gateways.push(id);
  }
  return gateways;
}

/** The state at the end of the first trajectory of the gateway. Undefined without one. */
async function recordedState(
  store: LedgerStore,
  [first]: readonly string[],
): Promise<GatewayState | undefined> {
  if (first === undefined) return undefined;
  const { fold } = await new Replayer(store).replay(first);
  return fold.state as unknown as GatewayState;
}
