import { form, requireForm } from '#canon';
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
import { NAMES } from './forms.ts';

export interface VerifyOptions {
  /** Default: all of the store. */
  readonly trajectoryIds?: readonly string[];
  /** Threads that may work at once. Default 2; 1 uses this thread alone. */
  readonly threads?: number;
  /** Called now and then with the entries done and the entries there are. */
  readonly onProgress?: (done: number, total: number) => void;
}

const VERIFY_OPTIONS = form.members({
  trajectoryIds: form.optional(NAMES),
  threads: form.optional(form.number),
});

/** Below this many entries a second thread is not worth starting. */
const WORTH_A_THREAD = 20_000;
/** More than a store can have: the last seq of a trajectory was changed by hand, and is soon found. */
const ENTRIES_MAX = 2 ** 31 - 1;

/**
 * Verifies trajectories by replay: every id, every chain rule, every fold, and that each writ that is named is in the
 * ledger, signed down from a root, and not overspent. With two threads the other checks entries ahead and hands over whole
 * runs; this one checks what it comes to first, and folds everything.
 * What is wrong is in the reports; an error means that the store could not be read.
 *
 * @throws ArgumentError `bad_argument`
 */
export async function verifyStore(store: LedgerStore, options: VerifyOptions = {}): Promise<VerifyReport[]> {
  requireForm(VERIFY_OPTIONS, options, 'options');
  const ranges = await rangesOf(store, options.trajectoryIds);
  const total = ranges.reduce((sum, { entries }) => sum + entries, 0);
  const worth = (options.threads ?? 2) > 1 && total >= WORTH_A_THREAD && total < ENTRIES_MAX;
  const ahead = worth ? store.checkAhead?.(ranges) : undefined;
  const replayer = new Replayer(store);
  const reports: VerifyReport[] = [];
  try {
    for (const { trajectory_id, position } of ranges) {
      const onPage = (seq: number): void => {
        ahead?.reached(position + seq);
        options.onProgress?.(position + seq, total);
      };
      const report = await verifyOne(store, replayer, trajectory_id, {
        onPage,
        ...(ahead === undefined ? {} : { ahead }),
      });
      // A run can't tell which of its entries is at fault: without runs it is found and named.
      const again = ahead !== undefined && !report.valid;
      reports.push(again ? await verifyOne(store, new Replayer(store), trajectory_id, {}) : report);
    }
  } finally {
    await ahead?.close();
  }
  return reports;
}

/** Chain and fold, and then that every writ it names is there, holds, and was not overspent. */
async function verifyOne(
  store: LedgerStore,
  replayer: Replayer,
  trajectoryId: string,
  options: Pick<ReplayOptions, 'ahead' | 'onPage'>,
): Promise<VerifyReport> {
  if (trajectoryId.includes('\0')) return unnameable(trajectoryId);
  const authority = new AuthorityFold(trajectoryId);
  const report = await verifyTrajectory(replayer, trajectoryId, {
    ...options,
    onEntry: (entry) => authority.note(entry),
    onRun: (run) => authority.noteRun(run),
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

/** No store has written such a name, and none can be asked for it. */
function unnameable(trajectory_id: string): VerifyReport {
  const fault = { trajectory_id, seq: 0, code: 'malformed', detail: 'its name has a NUL' } as const;
  return { trajectory_id, valid: false, entries: 0, head: null, open: 0, delegated: 0, signed: 0, erased: 0, fault };
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
