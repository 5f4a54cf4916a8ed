import {
  LedgerFault,
  type LedgerStore,
  Replayer,
  type ReplayOptions,
  type RowRange,
  type VerifyReport,
  verifyTrajectory,
} from '#ledger';
import { AuthorityFold } from './authority-fold.ts';

export interface VerifyOptions {
  /** Default: all of the store. */
  readonly trajectoryIds?: readonly string[];
  /** Threads that may work at once. Default 2; 1 uses this thread alone. */
  readonly threads?: number;
  /** Called now and then with the entries done and the entries there are. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Below this many entries a second thread is not worth starting. */
const WORTH_A_THREAD = 20_000;

/**
 * Verifies trajectories by replay: every id, every chain rule, every fold, and that each writ that is named is in the
 * ledger, signed down from a root, and not overspent. With two threads one goes forward through
 * chain and fold while the other checks rows from the end, and each does the other's work where they meet.
 * What is wrong is in the reports; an error means that the store could not be read.
 */
export async function verifyStore(store: LedgerStore, options: VerifyOptions = {}): Promise<VerifyReport[]> {
  const ranges = await rangesOf(store, options.trajectoryIds);
  const total = ranges.reduce((sum, { entries }) => sum + entries, 0);
  const positions = new Int32Array(new SharedArrayBuffer(8));
  positions[1] = total;
  const worth = (options.threads ?? 2) > 1 && total >= WORTH_A_THREAD;
  const ahead = worth ? store.checkAhead?.(ranges, positions) : undefined;
  // Where the replay itself fails, its error is the one to hear of.
  ahead?.catch(() => undefined);
  const reports = await replayAll(store, ranges, positions, total, options).finally(() =>
    Atomics.store(positions, 0, total),
  );
  const faulty = new Set((await ahead)?.map(({ trajectory_id }) => trajectory_id));
  // What was read as checked and was not sound is read again by this thread alone, and reported as it would have been.
  return Promise.all(
    reports.map((report) =>
      faulty.has(report.trajectory_id) ? verifyOne(store, new Replayer(store), report.trajectory_id) : report,
    ),
  );
}

async function replayAll(
  store: LedgerStore,
  ranges: readonly RowRange[],
  positions: Int32Array,
  total: number,
  options: VerifyOptions,
): Promise<VerifyReport[]> {
  const replayer = new Replayer(store);
  const reports: VerifyReport[] = [];
  for (const { trajectory_id, position, entries } of ranges) {
    const report = await verifyOne(store, replayer, trajectory_id, {
      checked: (seq) => {
        Atomics.store(positions, 0, position + seq);
        options.onProgress?.(position + seq, total);
        // What was appended since is in no range, and nobody has checked it.
        return position + seq >= Atomics.load(positions, 1) ? entries : 0;
      },
    });
    reports.push(report);
  }
  return reports;
}

/** Chain and fold, and then that every writ it names is there, holds, and was not overspent. */
async function verifyOne(
  store: LedgerStore,
  replayer: Replayer,
  trajectoryId: string,
  options: Pick<ReplayOptions, 'checked'> = {},
): Promise<VerifyReport> {
  const authority = new AuthorityFold(trajectoryId);
  const report = await verifyTrajectory(replayer, trajectoryId, {
    ...options,
    onEntry: (entry) => authority.note(entry),
  });
  if (!report.valid) return report;
  try {
    await authority.settle((hash) => store.blob(hash));
    return report;
  } catch (error) {
    if (!(error instanceof LedgerFault)) throw error;
    return { ...report, valid: false, fault: error.fault };
  }
}

async function rangesOf(store: LedgerStore, wanted: readonly string[] | undefined): Promise<RowRange[]> {
  const all = await store.trajectories();
  const known = new Map(all.map((info) => [info.trajectory_id, info.entries]));
  let position = 0;
  return (wanted ?? [...known.keys()]).map((trajectory_id) => {
    const entries = known.get(trajectory_id) ?? 0;
    const range = { trajectory_id, entries, position };
    position += entries;
    return range;
  });
}
