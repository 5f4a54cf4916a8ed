import { DOMAINS, NAMES, requireOwnDomains } from 'assize/host';
import { failClosedPolicy, type Policy } from 'assize/internal/authority';
import { arg, checkArgument } from 'assize/internal/base';
import { type Instant, isInstant } from 'assize/internal/canon';
import type { Domain } from 'assize/internal/kernel';
import { type DomainRef, type LedgerStore, Replayer } from 'assize/internal/ledger';
import type { OracleStore } from 'assize/internal/oracle';
import { valid } from '../deep-replay/deep-replay.ts';
import { lineageOf } from '../deep-replay/lineage.ts';
import { type DeepReplaySource, domainToRun, LISTED_MAX } from '../deep-replay/options.ts';
import { Walk } from '../deep-replay/walk.ts';
import { Judging, type JudgingOptions } from './judging.ts';
import type { BacktestReport } from './verdicts.ts';

export interface BacktestOptions {
  /** Asked instead of the original policy. Default: the recorded decisions stand. */
  readonly policy?: Policy;
  /**
   * The available domains. The domain with the recorded hash adjudicates, unless `instead` replaces
   * it.
   */
  readonly domains: readonly Domain[];
  /**
   * Domains that adjudicate instead of the recorded domain of the same name, regardless of its
   * version and hash; the last one of a name counts. Default: no replacement.
   */
  readonly instead?: readonly Domain[];
  /**
   * Supplies observations by oracle key; without it proposals with such observations cannot be
   * adjudicated.
   */
  readonly oracle?: Pick<OracleStore, 'oracleGet'>;
  /** Proposals before this time are followed, and not adjudicated. Default: none. */
  readonly from?: Instant;
  /** Proposals at this time and later are followed, and not adjudicated. Default: none. */
  readonly to?: Instant;
  /** The first and the last seq whose proposals are adjudicated. Default: all. */
  readonly fromSeq?: number;
  readonly toSeq?: number;
  /** Maximum number of listed differences; all are counted. Default `LISTED_MAX`. */
  readonly limit?: number;
  /** Called now and then with the number of entries done, and the total. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Options for a store. */
type BacktestStoreOptions = BacktestOptions & { readonly trajectoryIds?: readonly string[] };

const INSTANT = arg.optional(arg.of('an instant', isInstant));

const OF_BOTH = {
  policy: arg.any,
  domains: DOMAINS,
  instead: arg.optional(DOMAINS),
  oracle: arg.any,
  from: INSTANT,
  to: INSTANT,
  fromSeq: arg.optional(arg.whole),
  toSeq: arg.optional(arg.whole),
  limit: arg.optional(arg.whole),
  onProgress: arg.any,
};
const BACKTEST_OPTIONS = arg.options<BacktestOptions>(OF_BOTH);
const STORE_OPTIONS = arg.options<BacktestStoreOptions>({
  ...OF_BOTH,
  trajectoryIds: arg.optional(NAMES),
});

/**
 * Adjudicates the proposals of one trajectory again, up to the current head; `index.ts` explains
 * how. Entries of a branch's source are not adjudicated.
 *
 * @throws RuntimeError `not_found`, `domain_mismatch`, `invalid_ledger`; the errors of the store;
 * ArgumentError `bad_argument`
 */
export async function backtest(
  store: DeepReplaySource,
  trajectoryId: string,
  options: BacktestOptions,
): Promise<BacktestReport> {
  checkArgument(BACKTEST_OPTIONS, options, 'options');
  requireOwnDomains([...options.domains, ...(options.instead ?? [])]);
  return judgeOne(store, new Replayer(store), trajectoryId, options);
}

/**
 * Same for several trajectories. Default: all of the store. @throws the errors of `backtest`;
 * ArgumentError `bad_argument`
 */
export async function backtestStore(
  store: DeepReplaySource & Pick<LedgerStore, 'trajectories'>,
  given: BacktestStoreOptions,
): Promise<BacktestReport[]> {
  checkArgument(STORE_OPTIONS, given, 'options');
  requireOwnDomains([...given.domains, ...(given.instead ?? [])]);
  const { trajectoryIds, onProgress, ...options } = given;
  const all = await store.trajectories();
  const lengths = new Map(all.map(({ trajectory_id, entries }) => [trajectory_id, entries]));
  const wanted = trajectoryIds ?? [...lengths.keys()];
  const total = wanted.reduce((sum, id) => sum + (lengths.get(id) ?? 0), 0);
  const replayer = new Replayer(store);
  const reports: BacktestReport[] = [];
  let done = 0;
  for (const trajectoryId of wanted) {
    const progress = (now: number): void => onProgress?.(Math.min(total, done + now), total);
    reports.push(
      await judgeOne(store, replayer, trajectoryId, { ...options, onProgress: progress }),
    );
    done += lengths.get(trajectoryId) ?? 0;
  }
  return reports;
}

function judgeOne(
  store: DeepReplaySource,
  replayer: Replayer,
  trajectoryId: string,
  given: BacktestOptions,
): Promise<BacktestReport> {
  const { policy, domains, instead = [], oracle, from, to, limit = LISTED_MAX, onProgress } = given;
  const { fromSeq = 0, toSeq = Number.MAX_SAFE_INTEGER } = given;
  return valid(async () => {
    const options: JudgingOptions = {
      domainOf: (recorded: DomainRef) =>
        instead.findLast(({ name }) => name === recorded.name) ??
        domainToRun(recorded, { domains }),
      policy: policy && failClosedPolicy(policy),
      oracle,
      from,
      to,
      fromSeq,
      toSeq,
      limit,
    };
    const lineage = await lineageOf(store, trajectoryId, false);
    const judging = new Judging(store, replayer, options);
    const walk = new Walk(store, replayer, lineage, judging, onProgress);
    for (const stretch of lineage) await walk.along(stretch);
    return judging.report(walk);
  });
}
