import { arg, checkArgument, isInstance } from '#base';
import { isPartitionName } from '../entry/belief-shape.ts';
import { isBlobRef, isErased } from '../entry/blob.ts';
import type {
  BranchPayload,
  CommitPayload,
  DomainRef,
  Entry,
  EntryRow,
  Payload,
  RootPayload,
} from '../entry/entry.ts';
import { checkRow } from '../entry/entry-text.ts';
import { isErasure } from '../entry/erasure.ts';
import type { PartitionName } from '../entry/fact-rows.ts';
import type { BlobRef, Hash } from '../entry/hash.ts';
import type { Patch } from '../entry/patch.ts';
import { changesOf, positionsOf, valuesIn } from '../entry/references.ts';
import type { VerifiedRun } from '../entry/run.ts';
import type { Halt } from '../entry/system-actions.ts';
import { type Fault, LedgerFault } from '../errors.ts';
import type { LedgerStore } from '../ports/ledger-store.ts';
import { PAGE, type ParallelReader } from '../ports/parallel-reader.ts';
import type { RuleId } from '../rule-ids.ts';
import { Chain } from '../rules/chain.ts';
import { CrossChainRules } from '../rules/cross-chain.ts';
import { EntryKeyRules } from '../rules/entry-keys.ts';
import { applyPatches, type Folded, fresh, share } from './fold.ts';
import type { BranchesPartition } from './inherited-beliefs.ts';
import { Milestones } from './milestones.ts';
import { BRANCH_PARTITION, formsOf, isObject, PARTITION } from './position-forms.ts';
import { patchesOfRun, refersBesideFold, refersInFold } from './run.ts';
import { broken, checkErasure, faultAt as fault, ValueReader } from './values.ts';

/**
 * Number of referenced texts read in parallel for one entry. All of them are in memory at the same
 * time.
 */
const READ_AT_ONCE = 64;

/** The reads that replay needs. */
export type LedgerReader = Pick<LedgerStore, 'entries' | 'blob' | 'erasedBy' | 'resolve'>;

export interface ReplayOptions {
  /** Called for every entry accepted individually, in order. */
  readonly onEntry?: (entry: Entry) => void;
  /** Called for every run accepted as a whole. */
  readonly onRun?: (run: VerifiedRun) => void;
  /** Called for a branch before its first entry, with the writs revoked at the branch point. */
  readonly onInherited?: (revoked: ReadonlySet<Hash>) => void;
  /**
   * Called for every partition of a branch's memory that an accepted entry changes, if its name was
   * not erased.
   */
  readonly onBranches?: (partition: BranchesPartition) => void;
  /** Called at the start of every page, with the seq of its first entry. */
  readonly onPage?: (seq: number) => void;
  /** Stop after the entry with this id. */
  readonly until?: Hash;
  /**
   * Continues from this replay and changes it; do not use it after a failure. It must belong to
   * this trajectory and not be past `until`. Only its last entry is checked again.
   */
  readonly from?: Replayed;
  /** Runs that a worker thread checked. Not used together with `until`. */
  readonly parallelReader?: ParallelReader;
}

/** A replayed chain: the state of its rules, and the folded state. */
const REPLAY_OPTIONS = arg.members({ until: arg.optional(arg.text) });

export interface Replayed {
  readonly chain: Chain;
  readonly fold: Folded;
}

/** The values that a branch inherits at its branch point, and the halt that stands there. */
export interface BranchPoint {
  readonly fold: Folded;
  readonly revoked: ReadonlySet<Hash>;
  readonly domain: DomainRef;
  readonly halted: Halt | undefined;
}

/** A fold of a trajectory up to an entry at or before this seq. The caller owns the fold. */
export type StartFor = (trajectoryId: string, seq: number) => Promise<Replayed | undefined>;

/**
 * Replays trajectories. Replay recomputes ids, parents and seqs, checks every chain rule, and folds
 * the state. It follows branches to their source and delegations to their other end
 * (`cross-chain.ts`). It calls no domain code. The states at branch points are cached and shared,
 * so a hundred branches of a large state cost only their changes.
 */
export class Replayer {
  /** @internal */
  readonly values: ValueReader;
  readonly #reader: LedgerReader;
  readonly #startFor: StartFor;
  readonly #keys: EntryKeyRules;
  readonly #points: Map<Hash, BranchPoint> = new Map();
  #milestones: Milestones = new Milestones();
  /** The calls that look for a point now, by its entry. */
  readonly #sought: Map<Hash, Promise<BranchPoint>> = new Map();

  /**
   * `startFor`: where to start if only the state after an entry is needed. Default: at the first
   * entry. `entryKeys`: one of these public keys signs every first entry (rule `place.named`).
   * Default: any key does, or none.
   */
  constructor(
    reader: LedgerReader,
    startFor: StartFor = async () => undefined,
    entryKeys?: ReadonlySet<string> | undefined,
  ) {
    this.#reader = reader;
    this.#keys = new EntryKeyRules(reader, entryKeys);
    this.values = new ValueReader(reader);
    this.#startFor = startFor;
  }

  /**
   * The result, and what the listeners of the options receive, is part of the replay: it must not
   * be changed.
   *
   * @throws LedgerFault naming the entry at fault and why; ArgumentError `bad_argument`
   * @internal
   */
  replay(trajectoryId: string, options: ReplayOptions = {}): Promise<Replayed> {
    checkArgument(REPLAY_OPTIONS, options, 'options');
    return this.#replay(trajectoryId, options, [trajectoryId]);
  }

  /** `path`: this trajectory, and the trajectories that led to it by their branches. */
  async #replay(
    trajectoryId: string,
    options: ReplayOptions & {
      /** Receives milestones on the way to the seq of `until`. */
      readonly milestones?: Milestones;
      readonly target?: number;
    },
    path: readonly string[],
  ): Promise<Replayed> {
    const chain = options.from?.chain ?? new Chain(trajectoryId);
    const links = new CrossChainRules(this.#reader, chain);
    let fold = options.from?.fold;
    if (fold !== undefined && chain.head === options.until) return { chain, fold };
    // The last entry is checked again, so that a change before it cannot go unnoticed.
    let again = options.from === undefined ? 0 : 1;
    for (;;) {
      options.onPage?.(chain.seq);
      if (options.target !== undefined && fold !== undefined && again === 0)
        options.milestones?.offer(chain, fold, options.target);
      // Replay cannot stop inside a run.
      const found =
        options.until === undefined
          ? options.parallelReader?.at(trajectoryId, chain.seq)
          : undefined;
      if (typeof found === 'object' && fold !== undefined && chain.join(found)) {
        foldRun(fold, found);
        options.onRun?.(found);
        continue;
      }
      const limit = typeof found === 'number' ? found : PAGE;
      const rows = await this.#reader.entries(trajectoryId, { from: chain.seq - again, limit });
      for (const row of rows) {
        if (again > 0) {
          checkAgain(row, chain);
          again = 0;
          continue;
        }
        const entry = checkRow(row);
        const isFirst = EntryKeyRules.isFirst(entry, chain);
        chain.accept(entry);
        fold = this.#foldNow(fold, entry) ?? (await this.#foldLater(fold, entry, chain, path));
        if (entry.kind === 'branch') options.onInherited?.(chain.revoked);
        if (mayRefer(entry.payload)) {
          const names = await this.#checkBlobs(entry);
          await links.check(entry);
          for (const { name, hash } of names) {
            await links.checkMemory(entry, name);
            if (links.isInBranch)
              options.onBranches?.({ name: name as BranchesPartition['name'], names: hash });
          }
        }
        if (isFirst) await this.#keys.checkFirst(entry);
        options.onEntry?.(entry);
        if (row.id === options.until) return { chain, fold };
      }
      if (rows.length < limit) break;
    }
    if (fold === undefined || again > 0)
      throw new LedgerFault({
        trajectory_id: trajectoryId,
        seq: 0,
        code: 'not_found',
        detail: 'the trajectory has no entries',
      });
    if (options.until !== undefined) {
      throw new LedgerFault({
        trajectory_id: trajectoryId,
        seq: chain.seq,
        code: 'not_found',
        detail: `the trajectory has no entry ${options.until}`,
      });
    }
    this.#keys.checkWhole(trajectoryId, chain.key);
    return { chain, fold };
  }

  /**
   * The state after an entry, shared with all callers that ask for it (see `share`).
   *
   * @throws LedgerFault
   * @internal
   */
  async stateAt(trajectoryId: string, entryId: Hash): Promise<Folded> {
    return share((await this.#pointOnce(trajectoryId, entryId)).fold);
  }

  /**
   * The writs revoked in a trajectory before an entry, including inherited revocations, and the
   * halt that stands after it.
   *
   * @throws LedgerFault
   * @internal
   */
  async stoppedAt(
    trajectoryId: string,
    entryId: Hash,
  ): Promise<Pick<BranchPoint, 'revoked' | 'halted'>> {
    return this.#pointAt(trajectoryId, entryId, [trajectoryId]);
  }

  /**
   * The domain in force after an entry.
   *
   * @throws LedgerFault
   * @internal
   */
  async domainAt(trajectoryId: string, entryId: Hash): Promise<DomainRef> {
    return (await this.#pointOnce(trajectoryId, entryId)).domain;
  }

  /** The point of a call from outside. Calls at the same time share one replay. */
  #pointOnce(trajectoryId: string, entryId: Hash): Promise<BranchPoint> {
    const sought =
      this.#sought.get(entryId) ??
      this.#pointAt(trajectoryId, entryId, [trajectoryId]).finally(() =>
        this.#sought.delete(entryId),
      );
    this.#sought.set(entryId, sought);
    return sought;
  }

  async #pointAt(
    trajectoryId: string,
    entryId: Hash,
    path: readonly string[],
  ): Promise<BranchPoint> {
    let point = this.#points.get(entryId);
    if (point === undefined) {
      const { chain, fold } = await this.#replayUntil(trajectoryId, entryId, path);
      point = {
        fold,
        revoked: chain.revoked,
        halted: chain.halted,
        domain: chain.domain as DomainRef,
      };
      this.#keep(entryId, point);
    }
    return point;
  }

  /**
   * The initial state of a root, or the state that a delegation gives its child.
   *
   * @throws LedgerFault
   * @internal
   */
  async begin(
    entry: Pick<Entry, 'trajectory_id' | 'seq'>,
    { initial_state, sensitive = [] }: Pick<RootPayload, 'initial_state' | 'sensitive'>,
  ): Promise<Folded> {
    const state = await this.values.value(entry, initial_state);
    if (!isObject(state)) throw fault(entry, 'malformed', 'the initial state is not an object');
    // The values of the entry stay unchanged.
    const fold = fresh(isBlobRef(initial_state) ? state : structuredClone(state));
    applyCommit(fold, entry, await this.values.patches(entry, sensitive));
    return fold;
  }

  async #replayUntil(
    trajectoryId: string,
    until: Hash,
    path: readonly string[],
  ): Promise<Replayed> {
    const row = await this.#reader.resolve(until);
    if (row === undefined) return this.#replay(trajectoryId, { until }, path);
    const milestones = this.#milestones;
    const options = { until, milestones, target: row.seq };
    const starts = [
      () => milestones.before(trajectoryId, row.seq),
      () => this.#startFor(trajectoryId, row.seq),
    ];
    for (const start of starts) {
      const from = await start();
      if (from === undefined) continue;
      try {
        return await this.#replay(trajectoryId, { ...options, from }, path);
      } catch (error) {
        // The start alone may not fit.
        if (!isInstance(error, LedgerFault)) throw error;
      }
    }
    return this.#replay(trajectoryId, options, path);
  }

  /**
   * Checks the key of a first entry (`EntryKeyRules`).
   *
   * @throws LedgerFault
   * @internal
   */
  checkFirst(entry: Entry): Promise<void> {
    return this.#keys.checkFirst(entry);
  }

  /**
   * Evicts the cached states of branch points.
   *
   * @internal
   */
  forget(): void {
    this.#points.clear();
    // A replay on its way may have erased values, and leaves its milestones to the old ones.
    this.#milestones = new Milestones();
    this.#sought.clear();
  }

  #keep(entryId: Hash, point: BranchPoint): void {
    if (this.#points.size >= 64) this.#points.delete(this.#points.keys().next().value as Hash);
    this.#points.set(entryId, point);
  }

  /**
   * Checks blobs that no fold reads: each must exist with its hash, or be erased. Returns the
   * partition names that were not erased.
   */
  async #checkBlobs(
    entry: Entry,
  ): Promise<readonly { readonly name: PartitionName; readonly hash: Hash }[]> {
    const names: { name: PartitionName; hash: Hash }[] = [];
    const folded = new Set(foldedOf(entry.payload));
    const forms = formsOf(entry.payload);
    const toRead = positionsOf(entry.payload).filter(
      (stored): stored is BlobRef => isBlobRef(stored) && !folded.has(stored) && !isErased(stored),
    );
    for (let at = 0; at < toRead.length; at += READ_AT_ONCE) {
      const some = toRead.slice(at, at + READ_AT_ONCE);
      const read = await Promise.allSettled(some.map((stored) => this.values.read(entry, stored)));
      for (const [i, stored] of some.entries()) {
        const outcome = read[i]!;
        if (outcome.status === 'rejected') throw outcome.reason;
        const held = outcome.value;
        if (!('value' in held)) continue;
        const form = forms.get(stored);
        if (form === BRANCH_PARTITION && isPartitionName(held.value) && !form.check(held.value))
          throw broken(
            entry,
            'beliefs.inherit',
            `the blob ${stored.$blob} is not ${form.what}`,
            'malformed',
          );
        if (form?.check(held.value) === false)
          throw fault(entry, 'malformed', `the blob ${stored.$blob} is not ${form.what}`);
        if (form === PARTITION || form === BRANCH_PARTITION)
          names.push({ name: held.value as unknown as PartitionName, hash: stored.$blob });
      }
    }
    if (isErasure(entry.payload)) {
      await checkErasure(entry, await this.values.erasure(entry, entry.payload), this.#reader);
    }
    return names;
  }

  /**
   * The common case, without a promise per entry. Returns undefined if a value must be read first.
   */
  #foldNow(fold: Folded | undefined, entry: Entry): Folded | undefined {
    const { payload } = entry;
    if (payload.kind === 'root' || payload.kind === 'branch') return undefined;
    if (payload.kind !== 'commit') return fold;
    if (refersInFold(payload)) return undefined;
    applyCommit(fold as Folded, entry, payload.delta.state as readonly Patch[]);
    return fold;
  }

  async #foldLater(
    fold: Folded | undefined,
    entry: Entry,
    chain: Chain,
    path: readonly string[],
  ): Promise<Folded> {
    const { payload } = entry;
    if (payload.kind === 'root') return this.begin(entry, payload);
    if (payload.kind === 'branch') {
      const source = await this.#sourceOf(entry as Entry<BranchPayload>, path);
      chain.inherit(source.revoked);
      return share(source.fold);
    }
    applyCommit(
      fold as Folded,
      entry,
      await this.values.patches(entry, (payload as CommitPayload).delta.state),
    );
    return fold as Folded;
  }

  async #sourceOf(entry: Entry<BranchPayload>, path: readonly string[]): Promise<BranchPoint> {
    const { source_trajectory_id: trajectoryId, source_commit_id: sourceId } = entry.payload;
    // Valid ids cannot form a cycle. An altered first entry can, and replay would never end.
    if (path.includes(trajectoryId))
      throw broken(
        entry,
        'branch.cycle',
        `${trajectoryId} would branch from itself`,
        'source_missing',
      );

    const row = await this.#reader.resolve(sourceId);
    if (row === undefined || row.trajectory_id !== trajectoryId) {
      const detail = `${trajectoryId} has no entry ${sourceId} to branch from`;
      throw broken(entry, 'branch.source', detail, 'source_missing');
    }
    const source = this.#soundSource(entry, row);

    if (source.payload.at > entry.payload.at)
      throw broken(entry, 'branch.time', 'the branch is older than its source');

    if (source.kind !== 'commit' && !(source.kind === 'root' || source.kind === 'branch')) {
      throw broken(entry, 'branch.kind', 'a branch must start at a commit, root or branch entry');
    }

    let point: BranchPoint;
    try {
      point = await this.#pointAt(trajectoryId, sourceId, [...path, trajectoryId]);
    } catch (error) {
      throw unsound(entry, 'branch.valid', error);
    }
    if (point.halted !== undefined)
      throw broken(
        entry,
        'branch.halted',
        `${trajectoryId} is halted at ${sourceId} by ${point.halted.id}`,
      );
    return point;
  }

  #soundSource(entry: Entry, row: EntryRow): Entry {
    try {
      return checkRow(row);
    } catch (error) {
      throw unsound(entry, 'branch.source', error);
    }
  }
}

/** The fault of a branch with a faulty source. */
function unsound(entry: Entry, rule: RuleId, error: unknown): unknown {
  if (!isInstance(error, LedgerFault)) return error;
  return broken(entry, rule, `its source is not valid: ${error.message}`, 'source_missing', error);
}

/** The values that a fold reads and checks. */
function foldedOf(payload: Payload): readonly unknown[] {
  if (payload.kind === 'root') return [payload.initial_state, ...valuesIn(payload.sensitive)];
  return payload.kind === 'commit' ? changesOf(payload.delta.state) : [];
}

function applyCommit(
  fold: Folded,
  entry: Pick<Entry, 'trajectory_id' | 'seq'>,
  patches: readonly Patch[],
): void {
  try {
    applyPatches(fold, patches);
  } catch (error) {
    throw fault(entry, 'bad_patch', (error as Error).message, error);
  }
}

function foldRun(fold: Folded, run: VerifiedRun): void {
  const place = { trajectory_id: run.trajectoryId, seq: run.seq };
  for (const patches of patchesOfRun(run)) {
    applyCommit(fold, place, patches);
    place.seq++;
  }
}

/** @throws LedgerFault if the row is not the last entry that the chain accepted */
function checkAgain(row: EntryRow, chain: Chain): void {
  const entry = checkRow(row);
  if (entry.id !== chain.head)
    throw fault(entry, 'broken_chain', `${chain.head} was at this position`);
}

function mayRefer(payload: Payload): boolean {
  return (payload.kind !== 'commit' && payload.kind !== 'rejection') || refersBesideFold(payload);
}

/** The result of `verify` for one trajectory. */
export interface VerifyReport {
  readonly trajectory_id: string;
  readonly valid: boolean;
  /** Number of accepted entries. */
  readonly entries: number;
  readonly head: Hash | null;
  /** Number of pending approvals. */
  readonly open: number;
  /** Number of delegations that are not concluded. */
  readonly delegated: number;
  readonly signed: number;
  /** Number of values that the trajectory refers to and that an entry erased. */
  readonly erased: number;
  readonly fault?: Fault;
  /** Conditions that are not faults but need attention. Absent: none. */
  readonly warnings?: readonly string[];
}

/**
 * Replays one trajectory and reports. A fault of the ledger is part of the report and never thrown.
 *
 * @throws ArgumentError `bad_argument`
 */
export function verifyTrajectory(replayer: Replayer, trajectoryId: string): Promise<VerifyReport>;
/**
 * The same, with listeners to parts of the replay.
 *
 * @internal
 */
export function verifyTrajectory(
  replayer: Replayer,
  trajectoryId: string,
  options: Omit<ReplayOptions, 'until'>,
): Promise<VerifyReport>;
export async function verifyTrajectory(
  replayer: Replayer,
  trajectoryId: string,
  options: Omit<ReplayOptions, 'until'> = {},
): Promise<VerifyReport> {
  checkArgument(REPLAY_OPTIONS, options, 'options');
  let entries = 0;
  let signed = 0;
  let head: Hash | null = null;
  try {
    const { chain } = await replayer.replay(trajectoryId, {
      ...options,
      onEntry: (entry) => {
        options.onEntry?.(entry);
        entries++;
        head = entry.id;
        if (entry.payload.signature !== undefined) signed++;
      },
      onRun: (run) => {
        options.onRun?.(run);
        entries += run.count;
        head = run.head;
        signed += run.key === undefined ? 0 : run.count;
      },
    });
    const [open, delegated] = [chain.open.size, chain.delegated.size];
    const erased = replayer.values.erasedIn(trajectoryId);
    return {
      trajectory_id: trajectoryId,
      valid: true,
      entries,
      head,
      open,
      delegated,
      signed,
      erased,
    };
  } catch (error) {
    if (!isInstance(error, LedgerFault)) throw error;
    const { fault } = error;
    return {
      trajectory_id: trajectoryId,
      valid: false,
      entries,
      head,
      open: 0,
      delegated: 0,
      signed,
      erased: 0,
      fault,
    };
  }
}
