import { DOMAINS, NAMES, requireOwnDomains } from 'assize/host';
import { arg, checkArgument, isInstance } from 'assize/internal/base';
import { checkRow, LedgerFault, type LedgerStore, Replayer } from 'assize/internal/ledger';
import { RuntimeError } from 'assize/internal/runtime';
import { lineageOf } from './lineage.ts';
import type { DeepReplayOptions, DeepReplaySource, DeepReplayStoreOptions } from './options.ts';
import type { DeepReplayReport } from './report.ts';
import { Rerun, type RerunOptions } from './rerun.ts';
import { Walk } from './walk.ts';

const OF_BOTH = {
  domains: DOMAINS,
  changedDomains: arg.any,
  oracle: arg.any,
  policy: arg.any,
  limit: arg.optional(arg.whole),
  onProgress: arg.any,
};
const REPLAY_OPTIONS = arg.options<DeepReplayOptions>({ ...OF_BOTH, sources: arg.any });
const STORE_OPTIONS = arg.options<DeepReplayStoreOptions>({
  ...OF_BOTH,
  trajectoryIds: arg.optional(NAMES),
});

/**
 * Runs the domain of a trajectory again on the recorded entries up to the current head; `index.ts`
 * lists the repeated steps. The report has the differences; an error means that no comparison is
 * possible.
 *
 * @throws RuntimeError `not_found`, `domain_mismatch`, `invalid_ledger`; the errors of the store;
 * ArgumentError `bad_argument`
 */
export async function deepReplay(
  store: DeepReplaySource,
  trajectoryId: string,
  options: DeepReplayOptions,
): Promise<DeepReplayReport> {
  checkArgument(REPLAY_OPTIONS, options, 'options');
  requireOwnDomains(options.domains);
  const sourceIsRunAgain = options.sources ?? true;
  return replayOne(store, new Replayer(store), trajectoryId, { ...options, sourceIsRunAgain });
}

/**
 * Deep replay of several trajectories. Each entry is run again once: a source among them is not
 * repeated for each branch.
 *
 * @throws the errors of `deepReplay`; ArgumentError `bad_argument`
 */
export async function deepReplayStore(
  store: DeepReplaySource & Pick<LedgerStore, 'trajectories'>,
  given: DeepReplayStoreOptions,
): Promise<DeepReplayReport[]> {
  checkArgument(STORE_OPTIONS, given, 'options');
  requireOwnDomains(given.domains);
  const { trajectoryIds, onProgress, ...options } = given;
  const all = await store.trajectories();
  const wanted = trajectoryIds ?? all.map(({ trajectory_id }) => trajectory_id);
  const lengths = new Map(all.map(({ trajectory_id, entries }) => [trajectory_id, entries]));
  const total = wanted.reduce((sum, id) => sum + (lengths.get(id) ?? 0), 0);
  const replayer = new Replayer(store);
  const reports: DeepReplayReport[] = [];
  let done = 0;
  for (const trajectoryId of wanted) {
    const sources = !(await valid(() => beginsAmong(store, trajectoryId, new Set(wanted))));
    const report = await replayOne(store, replayer, trajectoryId, {
      ...options,
      sources,
      sourceIsRunAgain: true,
      onProgress: (now) => onProgress?.(Math.min(total, done + now), total),
    });
    reports.push(report);
    done += lengths.get(trajectoryId) ?? 0;
  }
  return reports;
}

async function beginsAmong(
  store: DeepReplaySource,
  trajectoryId: string,
  wanted: ReadonlySet<string>,
): Promise<boolean> {
  const [row] = await store.entries(trajectoryId, { from: 0, limit: 1 });
  const first = row === undefined ? undefined : checkRow(row).payload;
  return first?.kind === 'branch' && wanted.has(first.source_trajectory_id);
}

function replayOne(
  store: DeepReplaySource,
  replayer: Replayer,
  trajectoryId: string,
  options: RerunOptions,
): Promise<DeepReplayReport> {
  return valid(async () => {
    const lineage = await lineageOf(store, trajectoryId, options.sources ?? true);
    const rerun = new Rerun(store, replayer, options);
    const walk = new Walk(store, replayer, lineage, rerun, options.onProgress);
    for (const stretch of lineage) await walk.along(stretch);
    return rerun.report(walk);
  });
}

/** @throws RuntimeError `invalid_ledger` if an entry does not verify */
export async function valid<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (!isInstance(error, LedgerFault)) throw error;
    const message = `The ledger does not verify and cannot be replayed: ${error.message}.`;
    throw new RuntimeError('invalid_ledger', message, {
      evidence: { ...error.fault },
      cause: error,
    });
  }
}
