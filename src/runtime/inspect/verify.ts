import { form, requireForm } from '#base';
import {
  type BranchesPartition,
  type Fault,
  type Hash,
  inheritanceFaults,
  isEffectStore,
  LedgerFault,
  type LedgerStore,
  Replayer,
  type ReplayOptions,
  type RowRange,
  type VerifyReport,
  verifyTrajectory,
} from '#ledger';
import { AuthorityFold } from '../authority/fold.ts';
import { NAMES } from '../option-names.ts';
import { ToldCheck } from './effects/check-with-ledger.ts';
import { EffectsTold } from './effects/compare-with-ledger.ts';

export interface VerifyOptions {
  /** Default: all of the store. */
  readonly trajectoryIds?: readonly string[];
  /** Threads that may work at once. Default 2; 1 uses this thread alone. */
  readonly threads?: number;
  /** Called now and then with the entries done and the entries there are. */
  readonly onProgress?: (done: number, total: number) => void;
}

const VERIFY_OPTIONS = form.options<VerifyOptions>({
  trajectoryIds: form.optional(NAMES),
  threads: form.optional(form.number),
  onProgress: form.any,
});

/** Below this many entries a second thread is not worth starting. */
const WORTH_A_THREAD = 20_000;
/** More than a store can have: the last seq of a trajectory was changed by hand, and is soon found. */
const ENTRIES_MAX = 2 ** 31 - 1;

/**
 * Verifies trajectories by replay: every id, every chain rule, every fold, and that each writ that is named is in the
 * ledger, signed down from a root, and not overspent; that branches begin with what their sources believed; and that the effect log has of
 * effects what the ledger tells of them, where the store ever had one. With two threads the other checks entries ahead and hands over whole
 * runs; this one checks what it comes to first, and folds everything.
 * What is wrong is in the reports; an error means that the store could not be read. Of a trajectory that goes on because
 * nobody told it what was revoked where it was delegated, there is a warning, where both are verified.
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
  const verified: Verified[] = [];
  const known = new Set(ranges.map(({ trajectory_id }) => trajectory_id));
  const isAll = options.trajectoryIds === undefined;
  const toldCheck = isEffectStore(store) ? new ToldCheck(store, isAll ? known : undefined) : undefined;
  try {
    for (const { trajectory_id, position } of ranges) {
      const onPage = (seq: number): void => {
        ahead?.reached(position + seq);
        options.onProgress?.(position + seq, total);
      };
      let told = new EffectsTold();
      let one = await verifyOne(store, replayer, trajectory_id, told, {
        onPage,
        ...(ahead === undefined ? {} : { ahead }),
      });
      // A run can't tell which of its entries is at fault: without runs it is found and named.
      if (ahead !== undefined && !one.report.valid) {
        told = new EffectsTold();
        one = await verifyOne(store, new Replayer(store), trajectory_id, told, {});
      }
      verified.push(one);
      if (one.report.valid) await toldCheck?.add(trajectory_id, told);
    }
  } finally {
    await ahead?.close();
  }
  const differ = (await toldCheck?.end()) ?? new Map<string, Fault>();
  return [...warned(asLogged(await inherited(store, verified), differ)), ...unknown(known, differ)];
}

/**
 * What branches begin with is compared with all that was changed of it, wherever, by entries that are found valid. A fault in
 * one that was not asked for is one of whoever needs it.
 */
async function inherited(store: LedgerStore, verified: readonly Verified[]): Promise<readonly Verified[]> {
  const partitions = new Map(verified.flatMap(({ report, branches }) => (report.valid ? [...branches] : [])));
  if (partitions.size === 0) return verified;
  const doubtful = new Map(
    verified.flatMap(({ report: { fault } }) => (fault === undefined ? [] : [[fault.trajectory_id, fault.seq]])),
  );
  const faults = await inheritedFaults(store, partitions, doubtful);
  return verified.map((one) => {
    const { trajectory_id, valid } = one.report;
    if (!valid) return one;
    const fault =
      faults instanceof LedgerFault
        ? one.branches.size > 0 && unsound(trajectory_id, faults)
        : faults.find((each) => each.trajectory_id === trajectory_id);
    return fault ? { ...one, report: { ...one.report, valid: false, fault } } : one;
  });
}

async function inheritedFaults(
  store: LedgerStore,
  partitions: ReadonlyMap<Hash, BranchesPartition>,
  doubtful: ReadonlyMap<string, number>,
): Promise<readonly Fault[] | LedgerFault> {
  try {
    return await inheritanceFaults(store, [...partitions.values()], doubtful);
  } catch (error) {
    if (error instanceof LedgerFault) return error;
    throw error;
  }
}

function unsound(trajectory_id: string, { message }: LedgerFault): Fault {
  const detail = `what it inherits can't be compared with its source: ${message}`;
  return { trajectory_id, seq: 0, code: 'source_missing', detail };
}

/** Where the effect log is not what a valid trajectory tells of effects. */
function asLogged(verified: readonly Verified[], differ: ReadonlyMap<string, Fault>): readonly Verified[] {
  return verified.map((one) => {
    const fault = differ.get(one.report.trajectory_id);
    return fault === undefined || !one.report.valid ? one : { ...one, report: { ...one.report, valid: false, fault } };
  });
}

/** Trajectories that the effect log alone has. */
function unknown(known: ReadonlySet<string>, differ: ReadonlyMap<string, Fault>): VerifyReport[] {
  return [...differ.values()].filter(({ trajectory_id }) => !known.has(trajectory_id)).map(absent);
}

/** A report, and what the writs came to of a trajectory that is valid and has to do with delegations. */
interface Verified {
  readonly report: VerifyReport;
  readonly authority?: AuthorityFold;
  /** Partitions that it changes of a branch's memory, by the blobs that they are named by. */
  readonly branches: ReadonlyMap<Hash, BranchesPartition>;
}

/** Chain and fold, and then that every writ it names is there, holds, and was not overspent. */
async function verifyOne(
  store: LedgerStore,
  replayer: Replayer,
  trajectoryId: string,
  told: EffectsTold,
  options: Pick<ReplayOptions, 'ahead' | 'onPage'>,
): Promise<Verified> {
  const branches = new Map<Hash, BranchesPartition>();
  if (trajectoryId.includes('\0')) return { report: unnameable(trajectoryId), branches };
  const authority = new AuthorityFold(trajectoryId);
  const report = await verifyTrajectory(replayer, trajectoryId, {
    ...options,
    onEntry: (entry) => {
      authority.note(entry);
      told.note(entry);
    },
    onRun: (run) => {
      authority.noteRun(run);
      told.pass(run.count);
    },
    onInherited: (revoked) => authority.inherit(revoked),
    onBranches: (partition) => branches.set(partition.names, partition),
  });
  if (!report.valid) return { report, branches };
  try {
    await authority.settle((hash) => store.blob(hash));
    return authority.isLinked ? { report, authority, branches } : { report, branches };
  } catch (error) {
    if (!(error instanceof LedgerFault)) throw error;
    return { report: { ...report, valid: false, fault: error.fault }, branches };
  }
}

/** The reports, with what no trajectory shows alone and is no fault of either. */
function warned(verified: readonly Verified[]): VerifyReport[] {
  const authorities = new Map(verified.map(({ report, authority }) => [report.trajectory_id, authority]));
  const warnings = new Map<string, string[]>();
  for (const { report, authority } of verified) {
    for (const { child, revoked } of authority?.withdrawn() ?? []) {
      if (authorities.get(child)?.isDoneWith(revoked) !== false) continue;
      const { trajectory_id: above } = report;
      const what = `${revoked[0]} was revoked in ${above}, and this trajectory goes on; opening ${above} tells it`;
      warnings.set(child, [...(warnings.get(child) ?? []), what]);
    }
  }
  return verified.map(({ report }) => {
    const said = warnings.get(report.trajectory_id);
    return said === undefined ? report : { ...report, warnings: said };
  });
}

/** No store has written such a name, and none can be asked for it. */
function unnameable(trajectory_id: string): VerifyReport {
  return absent({ trajectory_id, seq: 0, code: 'malformed', detail: 'its name has a NUL' });
}

/** Of a trajectory of which no entry was read. */
function absent(fault: Fault): VerifyReport {
  const { trajectory_id } = fault;
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
