import { recoveryKeyOf, snapshotFault } from 'assize/host';
import {
  arg,
  checkArgument,
  GenerationalMap,
  isAssizeError,
  isInstance,
} from 'assize/internal/base';
import {
  type EntryRow,
  isFactStore,
  LedgerFault,
  type LedgerStore,
  type LogStore,
  Replayer,
  type SnapshotStore,
  ValueReader,
  type VerifyReport,
} from 'assize/internal/ledger';
import { type Checkpoint, Frontier, leafHash, type TreeNode } from 'assize/internal/merkle';
import type { OracleStore } from 'assize/internal/oracle';
import {
  checkMemory,
  type UnverifiedPartition,
  type VerifyOptions,
  verifyStore,
} from 'assize/internal/runtime';
import { type AnswerFault, checkPinnedAnswers, hasOracleLog } from './check-answers.ts';
import { type CheckedEffects, checkEffectMacs, type EffectFault } from './check-effect-macs.ts';
import { checkEffectTexts, type EffectTextLost } from './check-effect-texts.ts';

/** A fault of a store outside the trajectories, whose faults `verify` finds. */
export type FsckFault =
  /** The database itself is damaged, or has rows that no trajectory reaches. */
  | { readonly code: 'damaged'; readonly detail: string }
  /** An entry differs from the entry that got its position in the log. */
  | {
      readonly code: 'leaf_differs';
      readonly index: number;
      readonly id: string;
      readonly detail: string;
    }
  /** A position of the log with a missing entry, or entries in another order than their chain. */
  | { readonly code: 'log_broken'; readonly index: number; readonly detail: string }
  /** A hash above the leaves is missing or wrong, so proofs would fail. */
  | {
      readonly code: 'node_differs';
      readonly level: number;
      readonly index: number;
      readonly detail: string;
    }
  /**
   * A snapshot of a verified trajectory differs from its entries, so opening the trajectory shows a
   * wrong state.
   */
  | { readonly code: 'snapshot_differs'; readonly trajectory_id: string; readonly detail: string }
  /**
   * The store's facts differ from its entries, at this number of places; or they are being rebuilt.
   */
  | { readonly code: 'facts_differ'; readonly detail: string }
  /**
   * An answer of the oracle log differs from the hash that an entry pins, or is missing although no
   * entry erased it.
   */
  | AnswerFault
  /**
   * A text that only the effect log names is missing without an erasing entry in its trajectory, or
   * was changed.
   */
  | EffectTextLost
  /**
   * A transaction of the effect log has no MAC under the recovery key, or a key in the table of
   * keys does not lead to its effect.
   */
  | EffectFault
  /** The log is truncated or has diverged, compared with the kept checkpoint. */
  | { readonly code: 'checkpoint'; readonly detail: string };

export interface FsckReport {
  readonly valid: boolean;
  readonly entries: number;
  /** Entries with a position in the log; the others get one with the next checkpoint. */
  readonly logged: number;
  readonly trajectories: readonly VerifyReport[];
  /** At most `FAULTS_MAX`. */
  readonly faults: readonly FsckFault[];
  /** Absent if all facts were compared. A store with this field is never valid. */
  readonly notCompared?: NotCompared;
  /**
   * The transactions of the effect log, and how many of them have MACs under the recovery key.
   * Absent if there are none.
   */
  readonly effects?: CheckedEffects;
  /**
   * Number of answers that entries pin and that the oracle log of this store never had: of imported
   * entries, and of trajectories with another oracle log. Absent if there are none.
   */
  readonly answersElsewhere?: number;
}

/**
 * Facts that were not compared, because entries changed them that do not verify or follow one that
 * does not.
 */
export interface NotCompared {
  readonly partitions: number;
  /** At most 100. */
  readonly examples: readonly UnverifiedPartition[];
}

export interface FsckOptions extends Pick<VerifyOptions, 'threads' | 'entryKeys' | 'onProgress'> {
  /** The last checkpoint, verified by the caller. */
  readonly checkpoint?: Checkpoint;
  /** The recovery key of the processes that call tools (`EffectOptions.recoveryKey`). */
  readonly recoveryKey?: string;
}

const SIZE = arg.of('a bigint', (value) => typeof value === 'bigint');
const FSCK_OPTIONS = arg.options<FsckOptions>({
  checkpoint: arg.optional(arg.members({ origin: arg.text, size: SIZE, root: arg.bytes })),
  recoveryKey: arg.optional(arg.text),
  threads: arg.optional(arg.number),
  entryKeys: arg.any,
  onProgress: arg.any,
});

export const FAULTS_MAX = 100;
const PAGE = 1_000;

/** Number of erasures with cached answers. */
const ERASURES_KEPT = 100;

/**
 * All faults that reading a whole store can find: rows, chains, folds, blobs, writs, the Merkle
 * log, snapshots, facts, answers of the oracle log, and all texts that the effect log names. If
 * files of an archive are missing or damaged, the report names all of them and checks no entry.
 *
 * @throws ArgumentError `bad_argument`
 */
export async function fsck(
  store: LedgerStore & LogStore & Partial<SnapshotStore & OracleStore>,
  given: FsckOptions = {},
): Promise<FsckReport> {
  checkArgument(FSCK_OPTIONS, given, 'options');
  const faults: FsckFault[] = [];
  for (const detail of (await store.selfCheck?.()) ?? []) faults.push({ code: 'damaged', detail });
  try {
    return await checkEntries(store, given, faults);
  } catch (error) {
    if (faults.length === 0 || !isLostFile(error)) throw error;
    const detail =
      'no entry was verified; restore these files from a copy of the archive, and check again';
    return {
      valid: false,
      entries: entriesOf(await store.trajectories()),
      logged: await store.logSize(),
      trajectories: [],
      faults: [...faults.slice(0, FAULTS_MAX - 1), { code: 'damaged', detail }],
    };
  }
}

/**
 * Whether an entry could not be read because of a file of the archive. The faults name the file.
 */
function isLostFile(error: unknown): boolean {
  return isAssizeError(error, 'archive_damaged');
}

function entriesOf(known: readonly { readonly entries: number }[]): number {
  return known.reduce((sum, { entries }) => sum + entries, 0);
}

async function checkEntries(
  store: LedgerStore & LogStore & Partial<SnapshotStore & OracleStore>,
  { checkpoint, recoveryKey, ...options }: FsckOptions,
  faults: FsckFault[],
): Promise<FsckReport> {
  const trajectories = await verifyStore(store, options);
  await checkSnapshots(store, trajectories, faults);
  const notCompared = await checkBeliefs(store, trajectories, faults);
  await checkErasedAnswers(store, faults);
  const elsewhere = hasOracleLog(store)
    ? await checkPinnedAnswers(store, trajectories, FAULTS_MAX, faults)
    : 0;
  await checkEffectTexts(store, FAULTS_MAX, faults);
  const key = recoveryKey === undefined ? undefined : recoveryKeyOf({ recoveryKey });
  const effects = await checkEffectMacs(store, key, FAULTS_MAX, faults);
  const { read, size, rootThen } = await checkLog(store, faults, checkpoint?.size);
  if (checkpoint !== undefined) checkKept(checkpoint, read, rootThen, faults);
  return {
    valid: faults.length === 0 && trajectories.every((report) => report.valid),
    entries: entriesOf(await store.trajectories()),
    logged: size,
    trajectories,
    faults: faults.slice(0, FAULTS_MAX),
    ...(effects.transactions > 0 && { effects }),
    ...(notCompared && { notCompared }),
    ...(elsewhere > 0 && { answersElsewhere: elsewhere }),
  };
}

/**
 * Compares each snapshot with the entries. A trajectory that does not verify has nothing to compare
 * with.
 */
async function checkSnapshots(
  store: LedgerStore & Partial<SnapshotStore>,
  trajectories: readonly VerifyReport[],
  faults: FsckFault[],
): Promise<void> {
  const replayer = new Replayer(store);
  for (const { trajectory_id } of trajectories.filter(({ valid }) => valid)) {
    const snapshot = await store.snapshot?.(trajectory_id);
    const fault = snapshot && (await snapshotFault(snapshot, replayer, store));
    if (fault === undefined) continue;
    const detail = `the snapshot of ${trajectory_id} at seq ${snapshot?.seq} cannot be used: ${fault}; drop the snapshots`;
    faults.push({ code: 'snapshot_differs', trajectory_id, detail });
  }
}

/**
 * Compares the facts with the verified entries. Returns the changes of unverified entries: they
 * have nothing to compare with.
 */
async function checkBeliefs(
  store: LedgerStore,
  trajectories: readonly VerifyReport[],
  faults: FsckFault[],
): Promise<NotCompared | undefined> {
  if (!isFactStore(store)) return undefined;
  // Faults of the effect log do not concern facts.
  const wrong = trajectories.flatMap(({ fault }) =>
    fault && fault.code !== 'effects_differ' ? [fault] : [],
  );
  const readOnly = new Map(wrong.map(({ trajectory_id, seq }) => [trajectory_id, seq]));
  try {
    const report = await checkMemory(store, wrong.length > 0 ? { readOnly } : {});
    const { differences, more, unverified: partitions, unverifiedPartitions: examples } = report;
    if (differences.length > 0) {
      const detail = `the fact tables differ from the entries in ${differences.length + more} places; rebuild them with assize memory rebuild (--check lists them)`;
      faults.push({ code: 'facts_differ', detail });
    }
    return partitions > 0 ? { partitions, examples } : undefined;
  } catch (error) {
    if (!isAssizeError(error, 'store_facts_incomplete') && !isAssizeError(error, 'invalid_ledger'))
      throw error;
    faults.push({ code: 'facts_differ', detail: error.message });
    return undefined;
  }
}

/** For each erased answer, checks whether the named entry erased it. */
async function checkErasedAnswers(
  store: LedgerStore & Partial<OracleStore>,
  faults: FsckFault[],
): Promise<void> {
  const values = new ValueReader(store);
  const named = new GenerationalMap<string, ReadonlySet<string>>(ERASURES_KEPT);
  let after: string | undefined;
  while (faults.length < FAULTS_MAX) {
    const rows =
      (await store.oracleErased?.({ limit: PAGE, ...(after !== undefined && { after }) })) ?? [];
    for (const { key, erased_by: by } of rows) {
      const answers = named.get(by!) ?? (await answersErased(values, by!));
      named.set(by!, answers);
      if (answers.has(key)) continue;
      const detail = `the answer under oracle key ${key} is missing, and the recorded erasure ${by} does not erase it; restore the oracle log from a backup`;
      faults.push({ code: 'answer_lost', key, detail });
    }
    if (rows.length < PAGE) return;
    after = rows.at(-1)!.key;
  }
}

/** Unreadable entries are reported with their trajectory, not here. */
async function answersErased(values: ValueReader, by: string): Promise<ReadonlySet<string>> {
  try {
    return await values.answersErased(by);
  } catch (error) {
    if (isInstance(error, LedgerFault)) return new Set();
    throw error;
  }
}

/** The number of positions read, and the root at the requested size if the tree reaches it. */
interface LogRead {
  readonly size: number;
  readonly read: number;
  readonly rootThen: Uint8Array | undefined;
}

/** Rebuilds the tree from the entries, and compares it with the stored tree. */
async function checkLog(
  store: LogStore,
  faults: FsckFault[],
  then: bigint | undefined,
): Promise<LogRead> {
  const size = await store.logSize();
  const frontier = new Frontier();
  const rootNow = (): Uint8Array | undefined =>
    BigInt(frontier.size) === then ? frontier.root() : undefined;
  let rootThen = rootNow();
  const seqs = new Map<string, number>();
  while (frontier.size < size && faults.length < FAULTS_MAX) {
    const from = frontier.size;
    const rows = await store.logged(from, Math.min(PAGE, size - from));
    const gap = await gapIn(store, rows, from);
    const sound = rows.slice(0, gap);
    const kept = await keptNodes(store, from, sound.length);
    for (const row of sound) {
      checkOrder(row, frontier.size, seqs, faults);
      checkLeaf(kept, row, frontier, faults);
      rootThen ??= rootNow();
    }
    if (gap === undefined) continue;
    faults.push({
      code: 'log_broken',
      index: from + gap,
      detail: `the entry at position ${from + gap} is missing`,
    });
    break;
  }
  return { size, read: frontier.size, rootThen };
}

/**
 * The number of rows of a page before the first position without an entry. Undefined if no entry is
 * missing.
 */
async function gapIn(
  store: LogStore,
  rows: readonly EntryRow[],
  from: number,
): Promise<number | undefined> {
  const last = rows.at(-1);
  if (last === undefined) return 0;
  // Rows come in the order of their places: where the last has its place, all have.
  if ((await store.logIndex(last.id)) === from + rows.length - 1) return undefined;
  for (const [i, { id }] of rows.entries()) if ((await store.logIndex(id)) !== from + i) return i;
  return undefined;
}

function checkOrder(
  { trajectory_id, seq }: EntryRow,
  index: number,
  seqs: Map<string, number>,
  faults: FsckFault[],
): void {
  const due = seqs.get(trajectory_id) ?? 0;
  if (seq !== due) {
    const detail = `position ${index} has seq ${seq} of ${trajectory_id}, but no earlier position has its seq ${due}`;
    faults.push({ code: 'log_broken', index, detail });
  }
  seqs.set(trajectory_id, seq + 1);
}

/** The hashes that a store keeps of the log, by level and index. */
type KeptNodes = ReadonlyMap<string, Uint8Array | undefined>;

/** Those of some entries in a row, and all above them that are full with one of these. */
async function keptNodes(store: LogStore, from: number, count: number): Promise<KeptNodes> {
  const kept = new Map<string, Uint8Array | undefined>();
  for (let level = 0; count > 0; level++) {
    const first = Math.floor(from / 2 ** level);
    const full = Math.floor((from + count) / 2 ** level) - first;
    if (full === 0) break;
    const hashes = await store.logNodes(level, first, full);
    for (const [i, hash] of hashes.entries()) kept.set(`${level} ${first + i}`, hash);
  }
  return kept;
}

/** Adds the leaf to the tree, and compares what the store keeps of it and above it. */
function checkLeaf(kept: KeptNodes, row: EntryRow, frontier: Frontier, faults: FsckFault[]): void {
  const { id, payload, trajectory_id, seq } = row;
  const index = frontier.size;
  const leaf = kept.get(`0 ${index}`);
  if (leaf === undefined || Buffer.compare(leaf, leafHash(payload)) !== 0) {
    const detail = `${trajectory_id} seq ${seq} was changed after it was logged at position ${index}`;
    faults.push({ code: 'leaf_differs', index, id, detail });
  }
  // Continues with the logged hash: the nodes above are not at fault for the entry.
  for (const node of frontier.append([leaf ?? leafHash(payload)]).slice(1))
    checkNode(kept, node, faults);
}

function checkNode(kept: KeptNodes, { level, index, hash }: TreeNode, faults: FsckFault[]): void {
  const there = kept.get(`${level} ${index}`);
  if (there !== undefined && Buffer.compare(there, hash) === 0) return;
  const what = there === undefined ? 'is missing' : 'does not match the entries';
  const detail = `the hash over the ${2 ** level} entries from position ${index * 2 ** level} ${what}`;
  faults.push({ code: 'node_differs', level, index, detail });
}

/** Compares the leaves themselves, because some of the stored hashes may be missing. */
function checkKept(
  { size, root, origin }: Checkpoint,
  read: number,
  rootThen: Uint8Array | undefined,
  faults: FsckFault[],
): void {
  if (rootThen === undefined) {
    const detail = `the checkpoint of ${origin} has ${size} entries: the last ${size - BigInt(read)}, from position ${read}, are missing`;
    faults.push({ code: 'checkpoint', detail });
  } else if (Buffer.compare(rootThen, root) !== 0)
    faults.push({
      code: 'checkpoint',
      detail: `the first ${size} entries do not match the checkpoint of ${origin}`,
    });
}
