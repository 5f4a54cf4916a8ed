import { type Policy, safely } from '#authority';
import { form, requireForm } from '#base';
import type { Domain } from '#kernel';
import { type DomainRef, type LedgerStore, Replayer } from '#ledger';
import type { OracleStore } from '#oracle';
import { DOMAINS, NAMES, requireOwnDomains } from '../../option-names.ts';
import { valid } from '../deep-replay/deep-replay.ts';
import { lineageOf } from '../deep-replay/lineage.ts';
import { type DeepReplaySource, domainToRun, LISTED_MAX } from '../deep-replay/options.ts';
import { Walk } from '../deep-replay/walk.ts';
import { Judging, type JudgingOptions } from './judging.ts';
import type { BacktestReport } from './verdicts.ts';

export interface BacktestOptions {
  /** Asked in place of the one that was. Default: the recorded decisions stand. */
  readonly policy?: Policy;
  /** The domains at hand. The one whose hash is recorded judges, but where another is to. */
  readonly domains: readonly Domain[];
  /** They judge in place of the recorded one of their name, whatever its version and hash; the last of a name. Default: none. */
  readonly instead?: readonly Domain[];
  /** Where observations by oracle key are read back from; without it what has one can't be judged. */
  readonly oracle?: Pick<OracleStore, 'oracleGet'>;
  /** Differences that are listed; all are counted. Default `LISTED_MAX`. */
  readonly limit?: number;
  /** Called now and then with the entries done and the entries there are. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Of a store. */
type BacktestStoreOptions = BacktestOptions & { readonly trajectoryIds?: readonly string[] };

const OF_BOTH = {
  policy: form.any,
  domains: DOMAINS,
  instead: form.optional(DOMAINS),
  oracle: form.any,
  limit: form.optional(form.whole),
  onProgress: form.any,
};
const BACKTEST_OPTIONS = form.options<BacktestOptions>(OF_BOTH);
const STORE_OPTIONS = form.options<BacktestStoreOptions>({ ...OF_BOTH, trajectoryIds: form.optional(NAMES) });

/**
 * Judges the proposals of one trajectory once more, as far as it goes now; `index.ts` says how. The entries of a source that it
 * branches from are not judged with it.
 *
 * @throws RuntimeError `not_found`, `domain_mismatch`, `invalid_ledger`; what the store throws; ArgumentError `bad_argument`
 */
export async function backtest(
  store: DeepReplaySource,
  trajectoryId: string,
  options: BacktestOptions,
): Promise<BacktestReport> {
  requireForm(BACKTEST_OPTIONS, options, 'options');
  requireOwnDomains([...options.domains, ...(options.instead ?? [])]);
  return judgeOne(store, new Replayer(store), trajectoryId, options);
}

/** The same of several. Default: all of the store. @throws as `backtest`; ArgumentError `bad_argument` */
export async function backtestStore(
  store: DeepReplaySource & Pick<LedgerStore, 'trajectories'>,
  given: BacktestStoreOptions,
): Promise<BacktestReport[]> {
  requireForm(STORE_OPTIONS, given, 'options');
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
    reports.push(await judgeOne(store, replayer, trajectoryId, { ...options, onProgress: progress }));
    done += lengths.get(trajectoryId) ?? 0;
  }
  return reports;
}

function judgeOne(
  store: DeepReplaySource,
  replayer: Replayer,
  trajectoryId: string,
  { policy, domains, instead = [], oracle, limit = LISTED_MAX, onProgress }: BacktestOptions,
): Promise<BacktestReport> {
  return valid(async () => {
    const options: JudgingOptions = {
      domainOf: (recorded: DomainRef) =>
        instead.findLast(({ name }) => name === recorded.name) ?? domainToRun(recorded, { domains }),
      policy: policy && safely(policy),
      oracle,
      limit,
    };
    const lineage = await lineageOf(store, trajectoryId, false);
    const judging = new Judging(store, replayer, options);
    const walk = new Walk(store, replayer, lineage, judging, onProgress);
    for (const stretch of lineage) await walk.along(stretch);
    return judging.report(walk);
  });
}
