import { arg, checkArgument, isInstance } from '#base';
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
import { namedKeys } from '../entry-keys.ts';
import { NAMES } from '../option-names.ts';
import { EffectLogCheck } from './effects/check-with-ledger.ts';
import { LedgerEffects } from './effects/compare-with-ledger.ts';

export interface VerifyOptions {
  /** Default: all trajectories of the store. */
  readonly trajectoryIds?: readonly string[];
  /** Maximum number of threads. Default 2; 1 uses only this thread. */
  readonly threads?: number;
  /**
   * One of these public keys must sign the first entry of each trajectory. A change of the key
   * leads to another. Default: any key, or none.
   */
  readonly entryKeys?: readonly string[];
  /** Called now and then with the number of entries done, and the total. */
  readonly onProgress?: (done: number, total: number) => void;
}

const VERIFY_OPTIONS = arg.options<VerifyOptions>({
  trajectoryIds: arg.optional(NAMES),
  threads: arg.optional(arg.number),
  entryKeys: arg.any,
  onProgress: arg.any,
});

/** Below this number of entries a second thread is not worth its start. */
const WORTH_A_THREAD = 20_000;
/**
 * More than a store can have: the last seq of a trajectory was changed by hand. The replay soon
 * finds that.
 */
const ENTRIES_MAX = 2 ** 31 - 1;

/**
 * Verifies trajectories by replay: every id, every chain rule and every fold. Each named writ must
 * be in the ledger, signed down from a root, and not overspent. Branches must start with the facts
 * of their sources. If the store ever had an effect log, it must match the ledger.
 *
 * With two threads the other thread checks entries ahead and passes on whole runs. This thread
 * checks the entries that it reaches first, and folds everything. Faults are in the reports; an
 * error means that the store could not be read. A trajectory that continues because a parent's
 * revocation never reached it gets a warning, if both are verified.
 *
 * @throws RuntimeError `bad_argument`, KeyError for `entryKeys`; ArgumentError `bad_argument`
 */
export async function verifyStore(
  store: LedgerStore,
  options: VerifyOptions = {},
): Promise<VerifyReport[]> {
  checkArgument(VERIFY_OPTIONS, options, 'options');
  const named = namedKeys(options.entryKeys);
  const ranges = await rangesOf(store, options.trajectoryIds);
  const total = ranges.reduce((sum, { entries }) => sum + entries, 0);
  const worth = (options.threads ?? 2) > 1 && total >= WORTH_A_THREAD && total < ENTRIES_MAX;
  const ahead = worth ? store.readInParallel?.(ranges) : undefined;
  const replayer = new Replayer(store, undefined, named);
  const verified: Verified[] = [];
  const known = new Set(ranges.map(({ trajectory_id }) => trajectory_id));
  const isAll = options.trajectoryIds === undefined;
  const toldCheck = isEffectStore(store)
    ? new EffectLogCheck(store, isAll ? known : undefined)
    : undefined;
  try {
    for (const { trajectory_id, position } of ranges) {
      const onPage = (seq: number): void => {
        ahead?.reached(position + seq);
        options.onProgress?.(position + seq, total);
      };
      let told = new LedgerEffects();
      let one = await verifyOne(store, replayer, trajectory_id, told, {
        onPage,
        ...(ahead === undefined ? {} : { parallelReader: ahead }),
      });
      // A run does not show which of its entries is at fault. A replay without runs finds it.
      if (ahead !== undefined && !one.report.valid) {
        told = new LedgerEffects();
        one = await verifyOne(
          store,
          new Replayer(store, undefined, named),
          trajectory_id,
          told,
          {},
        );
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
 * Compares the inherited facts of branches with all changes by valid entries, in any trajectory. A
 * fault in an unrequested trajectory is reported for the trajectories that depend on it.
 */
async function inherited(
  store: LedgerStore,
  verified: readonly Verified[],
): Promise<readonly Verified[]> {
  const partitions = new Map(
    verified.flatMap(({ report, branches }) => (report.valid ? [...branches] : [])),
  );
  if (partitions.size === 0) return verified;
  const doubtful = new Map(
    verified.flatMap(({ report: { fault } }) =>
      fault === undefined ? [] : [[fault.trajectory_id, fault.seq]],
    ),
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
    if (isInstance(error, LedgerFault)) return error;
    throw error;
  }
}

function unsound(trajectory_id: string, { message }: LedgerFault): Fault {
  const detail = `the inherited facts cannot be compared with the source: ${message}`;
  return { trajectory_id, seq: 0, code: 'source_missing', detail };
}

/** The differences between the effect log and the entries of valid trajectories. */
function asLogged(
  verified: readonly Verified[],
  differ: ReadonlyMap<string, Fault>,
): readonly Verified[] {
  return verified.map((one) => {
    const fault = differ.get(one.report.trajectory_id);
    return fault === undefined || !one.report.valid
      ? one
      : { ...one, report: { ...one.report, valid: false, fault } };
  });
}

/** Trajectories that only the effect log has. */
function unknown(known: ReadonlySet<string>, differ: ReadonlyMap<string, Fault>): VerifyReport[] {
  return [...differ.values()].filter(({ trajectory_id }) => !known.has(trajectory_id)).map(absent);
}

/** A report, and the final writs of a valid trajectory with delegations. */
interface Verified {
  readonly report: VerifyReport;
  readonly authority?: AuthorityFold;
  /** Partitions of a branch's memory that it changes, by the blobs of their names. */
  readonly branches: ReadonlyMap<Hash, BranchesPartition>;
}

/** Checks chain and fold, and then that every named writ exists, is valid and is not overspent. */
async function verifyOne(
  store: LedgerStore,
  replayer: Replayer,
  trajectoryId: string,
  told: LedgerEffects,
  options: Pick<ReplayOptions, 'parallelReader' | 'onPage'>,
): Promise<Verified> {
  const branches = new Map<Hash, BranchesPartition>();
  if (trajectoryId.includes('\0')) return { report: unnameable(trajectoryId), branches };
  const authority = new AuthorityFold(trajectoryId);
  const report = await verifyTrajectory(replayer, trajectoryId, {
    ...options,
    onEntry: (entry) => {
      authority.note(entry);
      told.addEntry(entry);
    },
    onRun: (run) => {
      authority.noteRun(run);
      told.skipEntries(run.count);
    },
    onInherited: (revoked) => authority.inherit(revoked),
    onBranches: (partition) => branches.set(partition.names, partition),
  });
  if (!report.valid) return { report, branches };
  try {
    await authority.settle((hash) => store.blob(hash));
    return authority.isLinked ? { report, authority, branches } : { report, branches };
  } catch (error) {
    if (!isInstance(error, LedgerFault)) throw error;
    return { report: { ...report, valid: false, fault: error.fault }, branches };
  }
}

/** The reports, with warnings that no single trajectory shows and that are not faults. */
function warned(verified: readonly Verified[]): VerifyReport[] {
  const authorities = new Map(
    verified.map(({ report, authority }) => [report.trajectory_id, authority]),
  );
  const warnings = new Map<string, string[]>();
  for (const { report, authority } of verified) {
    for (const { child, revoked } of authority?.revokedDelegations() ?? []) {
      if (authorities.get(child)?.isDoneWith(revoked) !== false) continue;
      const { trajectory_id: above } = report;
      const what = `${revoked[0]} was revoked in ${above}, but this trajectory has not adopted the revocation; open ${above} to adopt it`;
      warnings.set(child, [...(warnings.get(child) ?? []), what]);
    }
    for (const child of authority?.openChildren() ?? []) {
      const isHalted = authority?.isHalted === true;
      if (authorities.get(child)?.agreesWithHalt(isHalted) !== false) continue;
      const { trajectory_id: above } = report;
      const what = `${above} was ${isHalted ? 'halted' : 'resumed'}, but this trajectory has not adopted that; open ${above} to adopt it`;
      warnings.set(child, [...(warnings.get(child) ?? []), what]);
    }
  }
  return verified.map(({ report }) => {
    const said = warnings.get(report.trajectory_id);
    return said === undefined ? report : { ...report, warnings: said };
  });
}

/** No store has written such a name, and none accepts it in a query. */
function unnameable(trajectory_id: string): VerifyReport {
  return absent({ trajectory_id, seq: 0, code: 'malformed', detail: 'the name has a NUL' });
}

/** For a trajectory without any entry read. */
function absent(fault: Fault): VerifyReport {
  const { trajectory_id } = fault;
  return {
    trajectory_id,
    valid: false,
    entries: 0,
    head: null,
    open: 0,
    delegated: 0,
    signed: 0,
    erased: 0,
    fault,
  };
}

async function rangesOf(
  store: LedgerStore,
  wanted: readonly string[] | undefined,
): Promise<RowRange[]> {
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
