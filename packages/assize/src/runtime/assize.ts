import { setImmediate } from 'node:timers/promises';
import { createWritVerifier, failClosedPolicy, parseWrit } from '#authority';
import { arg, checkArgument, isAssizeError, isInstance, type Json, markOwnPackage } from '#base';
import { addMicros, type Instant } from '#canon';
import { EffectError } from '#effects';
import type { Domain } from '#kernel';
import {
  type Chain,
  type DomainRef,
  type EntryRow,
  type Hash,
  type LedgerStore,
  Replayer,
  type TrajectoryInfo,
} from '#ledger';
import { forgetWords } from '#memory';
import { systemPause } from '#oracle';
import { listPending, type OpenPending, type PendingQuery } from './approve/list-pending.ts';
import { Expiries } from './approve/pending/expire.ts';
import { ExpiryTimer } from './approve/pending/expiry-timer.ts';
import type { TrajectoryContext } from './context.ts';
import {
  type BranchOptions,
  type CreatedTrajectory,
  type CreateOptions,
  newTrajectoryId,
  TrajectoryFactory,
  trajectoryName,
} from './create.ts';
import type { Revocation, RevocationInput } from './delegate/revoke.ts';
import { checkDomainOf, findDomain } from './domain-registry.ts';
import {
  changeKey,
  checkKeyChange,
  type KeyChange,
  type KeyChangeOptions,
  namedKeys,
} from './entry-keys.ts';
import { backgroundFailed, callsCut, clockAhead, RuntimeError } from './errors.ts';
import { type EffectsQuery, type EffectTransaction, readEffects } from './inspect/effects/list.ts';
import { type DependentEntry, dependentsOf } from './lineage/dependents.ts';
import { BeliefPlanner, requireFactStore } from './memory/plan/plan-beliefs.ts';
import { MemoryView } from './memory/recall/recall.ts';
import {
  type AssizeOptions,
  approvalTimeoutOf,
  badOption,
  checkedClock,
  checkedRandom,
  checkOptions,
  effectLogOf,
  effectsFor,
  isSystemClock,
  maxClockAheadOf,
  maxPendingOf,
  snapshotSecretOf,
} from './options.ts';
import { reportFailure } from './records/report-failure.ts';
import { type EffectOutcome, type Ruling, rulingOf } from './records/ruling.ts';
import { Trajectory } from './trajectory.ts';
import { awaitOutcomes, wholeRuling } from './transactions/commit/await-outcome.ts';
import type { UnresolvedEffect } from './transactions/engine/engine.ts';
import type { TransactionEngines } from './transactions/engine/engines.ts';
import {
  checkedEffectResolution,
  type EffectResolution,
  type ResolvedEffect,
} from './transactions/engine/human-decision.ts';
import { requireOperatorRight } from './transactions/engine/operator-right.ts';
import { ClosedLedgers } from './transactions/settle/closed-ledgers.ts';
import type { LedgerWriter } from './transactions/settle/ledger-writer.ts';
import type { FailedCommit, OnFailureOutcome } from './transactions/settle/on-failure.ts';
import { requireGiven, Upgrades } from './upgrade/upgrade.ts';
import type { Upgrade, UpgradeOptions } from './upgrade/upgrade-input.ts';
import type { AwaitOptions } from './writer/await-options.ts';
import { SourceRulings } from './writer/known/source-rulings.ts';
import { Notifications } from './writer/listeners/notifications.ts';
import { copyOf, type FoldedTrajectory } from './writer/load/fold.ts';
import { type FollowedStore, Follower } from './writer/load/follower.ts';
import { TrajectoryLoader, unmade, valid } from './writer/load/load.ts';
import { PastFolds } from './writer/load/past-folds.ts';
import { partsRead, partsUnder } from './writer/load/state.ts';
import type { ReplayBase, TrajectoryState } from './writer/ports.ts';
import { isSigner } from './writer/require-signer.ts';
import { Snapshots } from './writer/snapshots/snapshots.ts';
import { TurnScopedPorts } from './writer/turn-ports.ts';
import { Writer } from './writer/writer.ts';

export interface CloseOptions {
  /**
   * Whether the runtime continues, where possible, effects of earlier processes that it has
   * adopted. Default true.
   */
  readonly recover?: boolean;
  /**
   * Milliseconds that `close` waits at most for calls of tools, compensations and committed work.
   * Default: 10,000.
   */
  readonly timeoutMs?: number;
  /**
   * Notified if calls of tools had no answer by then (`calls_cut`). The evidence `calls` has their
   * epochs, tools and keys. Default: a process warning.
   */
  readonly onCut?: (error: RuntimeError) => void;
}

/** The work that a runtime does by itself. @internal */
export interface Background {
  /** Reads what other processes commit to the open trajectories. */
  readonly follows: boolean;
}

/**
 * The runtime over one store: creates, opens and branches trajectories. Closing the runtime does
 * not close the store, because the caller supplied the store.
 */
export class Assize {
  readonly #store: LedgerStore;
  readonly #context: TrajectoryContext;
  readonly #snapshots: Snapshots;
  readonly #replayer: Replayer;
  /** The number of erasures at the last call of `erasures`. */
  #erasures: number | undefined;
  /** One of these keys signs first in each trajectory. */
  readonly #named: ReadonlySet<string> | undefined;
  readonly #reading: TrajectoryLoader;
  readonly #pasts: PastFolds;
  readonly #effects: TransactionEngines | undefined;
  readonly #beginnings: TrajectoryFactory;
  readonly #strict: boolean;
  readonly #open: Map<string, Promise<Trajectory>> = new Map();
  /** The open trajectories that only the expiry timer has opened. */
  readonly #borrowed: Set<string> = new Set();
  /**
   * The open trajectories that have a writer, also while the interrupted work of a crash is being
   * completed.
   */
  readonly #writing: Map<string, Trajectory> = new Map();
  readonly #closedBooks: ClosedLedgers;
  /** The open trajectories with a snapshot in progress. */
  readonly #leaving: Set<string> = new Set();
  /** Undefined with a clock of the options: the machine's timers do not follow that clock. */
  readonly #expiries: ExpiryTimer | undefined;
  readonly #follower: Follower;

  static {
    markOwnPackage(Assize.prototype);
  }

  /**
   * @throws AssizeError for an anchor that is not a public key; RuntimeError `bad_argument`;
   * DuplicatePackageError `duplicate_package` for a domain, tool or store from another copy of the
   * package; ArgumentError `bad_argument`
   */
  constructor(options: AssizeOptions) {
    checkOptions(options);
    const verifier = createWritVerifier({ anchors: options.anchors });
    this.#store = options.store;
    this.#named = namedKeys(options.entryKeys, options.signer);
    const keys = {
      signer: options.signer,
      trusted: this.#named,
      secret: snapshotSecretOf(options),
    };
    this.#snapshots = new Snapshots(
      options.snapshots,
      options.store,
      options.onSnapshotFailed,
      keys,
    );
    this.#replayer = new Replayer(
      options.store,
      (trajectoryId, seq) => this.#snapshots.find(trajectoryId, seq),
      this.#named,
    );
    this.#reading = new TrajectoryLoader(options.store, this.#replayer, this.#snapshots);
    const policy = options.policy === undefined ? undefined : failClosedPolicy(options.policy);
    this.#effects = effectsFor(options, {
      ledgerWriterOf: (trajectoryId) => this.#ledgerWriterOf(trajectoryId),
      proposeOnFailure: (failure) => this.#proposeOnFailure(failure),
    });
    const { pause = systemPause } = options.ports ?? {};
    this.#pasts = new PastFolds(options.store, this.#replayer, this.#snapshots);
    const random = checkedRandom(options.ports?.random);
    const clock = checkedClock(options.ports?.clock);
    this.#context = {
      store: options.store,
      clock,
      maxClockAheadMs: maxClockAheadOf(options),
      random,
      verifier,
      policy,
      signer: options.signer,
      approvalTimeoutMs: approvalTimeoutOf(options.approvals),
      maxPendingPerRoot: maxPendingOf(options.approvals),
      replayer: this.#replayer,
      sourceRulings: new SourceRulings(options.store),
      oracle: options.oracle,
      nameFor: (given) => trajectoryName(given, random),
      domainOf: (ref, upgraded, trajectoryId) =>
        findDomain(options.domains, ref, upgraded, trajectoryId),
      pause,
      notifications: new Notifications(options.approvals, options.onNotificationFailed),
      effects: this.#effects,
      reservedFor: (trajectoryId, committing) =>
        this.#effects?.reserved.reservedFor(trajectoryId, committing) ?? [],
      beliefs: BeliefPlanner.forStore(options.store, random, options.memory?.judge),
      embedder: options.memory?.embedder,
      reload: (trajectoryId, base) => this.#reload(trajectoryId, base),
      forgetErased: (trajectoryId) => this.#forgetErased(trajectoryId),
      partsAt: async (trajectoryId, entryId) =>
        this.#partsOf(await this.#pasts.at(trajectoryId, entryId)),
      entriesAdded: (trajectoryId) => this.#entriesAdded(trajectoryId),
    };
    const read = async (name: string): Promise<Chain> =>
      (await this.#reading.read(name, unmade)).folded.chain;
    this.#closedBooks = new ClosedLedgers({ ...this.#context, read });
    this.#strict = options.strict === true;
    const failed = (doing: string, cause: unknown, trajectoryId?: string): void =>
      reportFailure(options.onNotificationFailed, backgroundFailed(doing, cause, trajectoryId));
    if (isSystemClock(options.ports?.clock))
      this.#expiries = new ExpiryTimer({
        clock,
        record: (trajectoryId) => this.#recordExpired(trajectoryId),
        failed: (trajectoryId, cause) =>
          failed(`An expiry in ${trajectoryId} is not recorded yet`, cause, trajectoryId),
      });
    this.#follower = new Follower({
      store: options.store as LedgerStore & FollowedStore,
      open: () => this.#writing.keys(),
      isBehind: (trajectoryId, seq) => {
        const open = this.#writing.get(trajectoryId);
        return open !== undefined && Trajectory.isBehind(open, seq);
      },
      catchUp: async (trajectoryId) => this.#writing.get(trajectoryId)?.refresh(),
      failed: (cause) => failed('The entries of other processes are not read yet', cause),
    });
    this.#beginnings = new TrajectoryFactory(this.#context, this.#strict, (trajectoryId, entryId) =>
      this.#durable(trajectoryId, entryId),
    );
  }

  /** @internal */
  protected get background(): Background {
    return { follows: true };
  }

  /**
   * Finds the next expiry of each trajectory with open approvals, and records it when it happens,
   * as for open trajectories. Trajectories are read one at a time, and nothing of them is kept.
   *
   * @internal
   */
  async findExpiries(signal: AbortSignal): Promise<void> {
    const expiries = this.#expiries;
    if (expiries === undefined) return;
    for (const trajectoryId of await this.namesToReview()) {
      if (signal.aborted) return;
      if (this.#open.has(trajectoryId)) continue;
      await setImmediate();
      try {
        const { folded } = await this.#reading.read(trajectoryId, unmade);
        expiries.note(
          trajectoryId,
          folded.chain.halted === undefined ? folded.chain.open.nextExpiry : undefined,
        );
      } catch (error) {
        // A trajectory that cannot be read accepts no entry either. Its opener gets the error.
        if (!isAssizeError(error, 'invalid_ledger')) throw error;
      }
    }
  }

  async #recordExpired(trajectoryId: string): Promise<Instant | undefined> {
    if (!this.#open.has(trajectoryId)) this.#borrowed.add(trajectoryId);
    try {
      const trajectory = await this.#opened(trajectoryId);
      await Trajectory.recordExpired(trajectory);
      return Trajectory.nextExpiry(trajectory);
    } finally {
      if (this.#borrowed.delete(trajectoryId)) this.release(trajectoryId);
    }
  }

  /**
   * The trajectories in which something may wait, or that are halted: as the store says, and by the
   * memory of this runtime, from which a forged entry takes nothing.
   *
   * @internal
   */
  async namesToReview(): Promise<string[]> {
    const store = this.#store;
    const names =
      (await store.trajectoriesToReview?.()) ??
      (await store.trajectories()).map(({ trajectory_id }) => trajectory_id);
    const open = [...this.#writing].filter(
      ([, trajectory]) => trajectory.approvals.pending().length > 0,
    );
    return [...new Set([...names, ...open.map(([name]) => name)])];
  }

  trajectories(): Promise<TrajectoryInfo[]> {
    return this.#store.trajectories();
  }

  /**
   * Checks that the store accepts entries by this host's clock.
   *
   * @throws RuntimeError `clock_ahead`; the errors of the store
   * @internal
   */
  async requireClock(): Promise<void> {
    const { clock, maxClockAheadMs } = this.#context;
    const now = await this.#store.time?.();
    if (now === undefined || maxClockAheadMs === undefined) return;
    const reading = { at: clock.now(), maxAheadMs: maxClockAheadMs };
    if (addMicros(now, maxClockAheadMs * 1_000) < reading.at) throw clockAhead(reading, now);
  }

  /**
   * The number of erasures in the store: with the same number, an entry has the same state. If
   * another process erased values since the last call, evicts them from the cached states.
   *
   * @internal
   */
  async erasures(): Promise<number | undefined> {
    const erasures = await this.#snapshots.erasures('every trajectory');
    if (erasures === undefined || erasures !== this.#erasures) this.#replayer.forget();
    this.#erasures = erasures;
    return erasures;
  }

  /**
   * The ruling that an entry records, with the outcomes of its calls now.
   *
   * @throws RuntimeError `wrong_state`; LedgerFault @internal
   */
  rulingAt(row: EntryRow): Promise<Ruling> {
    return wholeRuling(rulingOf(row), this.#store, this.#effects);
  }

  /**
   * A value from the state after an entry. From memory if that is the last entry of an open
   * trajectory, otherwise from a snapshot and the entries after it. The states of recent calls stay
   * in memory, until `erasures` evicts them. The result of `read` must not refer to the state.
   *
   * @throws LedgerFault; the errors of `read`
   * @internal
   */
  async readState<T>({ trajectory_id, id }: EntryRow, read: (state: Json) => T): Promise<T> {
    const open = this.#writing.get(trajectory_id);
    if (open?.head === id) {
      const { entry, result } = await Trajectory.readMemory(open, this.#erasures, ({ world }) =>
        read(world.state as Json),
      );
      if (entry.id === id) return result;
    }
    return read((await this.#replayer.stateAt(trajectory_id, id)).state as Json);
  }

  /**
   * The same for the last entry, with that entry.
   *
   * @throws RuntimeError `not_found`; LedgerFault; the errors of `read`
   * @internal
   */
  async readHead<T>(
    trajectoryId: string,
    read: (state: Json) => T,
  ): Promise<{ readonly entry: EntryRow; readonly result: T }> {
    const open = this.#writing.get(trajectoryId);
    if (open !== undefined)
      return Trajectory.readMemory(open, this.#erasures, ({ world }) => read(world.state as Json));
    const entry = await this.#store.head(trajectoryId);
    if (entry === undefined)
      throw new RuntimeError('not_found', `The store has no trajectory ${trajectoryId}.`);
    return { entry, result: await this.readState(entry, read) };
  }

  /**
   * The domain in force after an entry.
   *
   * @throws LedgerFault
   * @internal
   */
  async domainAt({ trajectory_id, id }: EntryRow): Promise<DomainRef> {
    const open = this.#writing.get(trajectory_id);
    if (open?.head !== id) return this.#replayer.domainAt(trajectory_id, id);
    const { name, version, hash } = open.domain;
    return { name, version, hash };
  }

  /**
   * Whether a trajectory is halted after an entry. No domain is needed.
   *
   * @throws LedgerFault
   * @internal
   */
  async isHaltedAt({ trajectory_id, id }: EntryRow): Promise<boolean> {
    return (await this.#replayer.stoppedAt(trajectory_id, id)).halted !== undefined;
  }

  /**
   * The pending proposals of all trajectories or of one, oldest first in each, from every writer.
   * The list includes proposals of ended processes that sent no notification. Trajectories with
   * open proposals are read one at a time, from a snapshot if one exists, and nothing is cached. No
   * domain is needed. Expired proposals are not listed. Where the seal of an entry does not hold,
   * the proposals before it are listed, and then the error is thrown.
   *
   * @throws RuntimeError `not_found`, `invalid_ledger`; ArgumentError `bad_argument`
   */
  pending(query: PendingQuery = {}): AsyncGenerator<OpenPending> {
    return listPending(query, {
      store: this.#store,
      reading: this.#reading,
      pasts: this.#pasts,
      names: () => this.namesToReview(),
      now: () => this.#context.clock.now(),
    });
  }

  /**
   * The facts of a space, current and past, for reading: the shared facts, or with `trajectoryId`
   * the facts visible to that trajectory or branch.
   *
   * @throws RuntimeError `bad_argument` if the store keeps no facts
   */
  memory(space: string, trajectoryId?: string): MemoryView {
    requireFactStore(this.#context.beliefs);
    return new MemoryView(space, this.#context, trajectoryId);
  }

  /**
   * Every commit that derives from an entry, over any number of steps: by the facts of the commits,
   * and by the recalls that they observed. Reads the whole store.
   *
   * @throws RuntimeError `not_found`, `bad_argument` for a store without a log; LedgerFault for an
   * altered entry or a missing blob; ArgumentError `bad_argument`
   */
  async dependents(entryId: Hash): Promise<readonly DependentEntry[]> {
    checkArgument(arg.text, entryId, 'entryId');
    return dependentsOf(this.#store, entryId);
  }

  /** An unused trajectory name, for writs that must name their trajectory before it is created. */
  newTrajectoryId(): string {
    return newTrajectoryId(this.#context.random);
  }

  /**
   * Creates a trajectory with a root entry.
   *
   * @throws RuntimeError `exists`, `bad_argument`, `invalid_state`, `bad_writ`, `domain_mismatch`;
   * KernelError `invalid_state`; ArgumentError `bad_argument`
   */
  async create<D extends Domain>(domain: D, options: CreateOptions = {}): Promise<Trajectory<D>> {
    const begun = await this.#begun(() => this.#beginnings.create(domain, options));
    return this.#writes(begun) as unknown as Trajectory<D>;
  }

  /**
   * Creates a trajectory from a commit of another trajectory, or from its root or branch entry. The
   * branch inherits the state and earlier revocations, never open approvals, writs or budgets. The
   * source is not changed.
   *
   * @throws RuntimeError `not_found`, `exists`, `invalid_state`, `domain_mismatch`,
   * `invalid_ledger`, `bad_writ`, `bad_argument`; ArgumentError `bad_argument`
   */
  async branch(
    sourceTrajectoryId: string,
    sourceEntryId: Hash,
    options: BranchOptions,
  ): Promise<Trajectory> {
    return this.#writes(
      await this.#begun(() => this.#beginnings.branch(sourceTrajectoryId, sourceEntryId, options)),
    );
  }

  /**
   * Same as `Trajectory.upgrade`, and does not need the version before: a program that has only the
   * new version upgrades with this call. Then it opens the trajectory.
   *
   * @throws RuntimeError `not_found`, `invalid_ledger`, and the errors of `Trajectory.upgrade`
   */
  async upgrade(trajectoryId: string, next: Domain, options: UpgradeOptions): Promise<Upgrade> {
    checkArgument(arg.text, trajectoryId, 'trajectoryId');
    const opened = await this.#open.get(trajectoryId)?.catch(() => undefined);
    if (opened !== undefined) return opened.upgrade(next, options);
    requireGiven(next, this.#context);
    const writer = await this.#writerUnder(trajectoryId, next);
    return new Upgrades(writer, new Expiries(writer)).upgrade(next, options);
  }

  /**
   * Records that the `signer` of this runtime signs every later entry of a trajectory. Later
   * runtimes name the earlier key in `entryKeys`. Returns undefined if the key is in force already.
   *
   * @throws RuntimeError `bad_argument` without a signer; `wrong_signer` if `from` is not the key
   * in force; `concluded`, `invalid_ledger`, `not_found`; ArgumentError `bad_argument`
   */
  async changeEntryKey(
    trajectoryId: string,
    options: KeyChangeOptions,
  ): Promise<KeyChange | undefined> {
    checkArgument(arg.text, trajectoryId, 'trajectoryId');
    checkKeyChange(options);
    const { signer } = this.#context;
    if (signer === undefined || this.#named === undefined)
      throw badOption('no signer is given; pass `signer`');
    return changeKey(trajectoryId, signer, options, {
      ...this.#context,
      named: this.#named,
      chainOf: async (name, replayer) => (await valid(() => replayer.replay(name))).chain,
    });
  }

  /** A writer of a trajectory with the state of the ledger, for any version of the domain. */
  async #writerUnder(trajectoryId: string, domain: Domain): Promise<Writer> {
    const read = async (): Promise<TrajectoryState> => {
      const { folded } = await this.#reading.read(trajectoryId, unmade);
      return partsUnder(folded, domain, this.#strict);
    };
    const { clock, random } = this.#context;
    const ports = new TurnScopedPorts(
      trajectoryId,
      clock,
      random,
      () => writer.parts.chain.head as Hash,
    );
    const context = { ...this.#context, saltGenerator: ports.saltGenerator, reload: read };
    const writer: Writer = new Writer(trajectoryId, await read(), context);
    return writer;
  }

  /** An entry of the store. If the entry is still being written, resolves once it is durable. */
  #durable(trajectoryId: string, entryId: Hash): Promise<EntryRow | undefined> {
    const writing = this.#writing.get(trajectoryId);
    return writing === undefined
      ? this.#store.resolve(entryId)
      : Trajectory.findDurable(writing, entryId);
  }

  /**
   * Opens a trajectory: replays it, and refuses a trajectory that does not verify. Opening the same
   * trajectory again returns the same object.
   *
   * First completes work that a crash interrupted between the trajectory and its delegations. Then
   * starts to resume unfinished effects if their tools are here; only `recoverEffects` waits for
   * that. If a snapshot exists, only later entries are replayed; `verify` checks the entries before
   * it.
   *
   * With a domain, the trajectory must belong to that domain and is typed by it.
   *
   * @throws RuntimeError `not_found`, `domain_mismatch`, `invalid_ledger`
   */
  open(trajectoryId: string): Promise<Trajectory>;
  open<D extends Domain>(trajectoryId: string, domain: D): Promise<Trajectory<D>>;
  async open(trajectoryId: string, domain?: Domain): Promise<Trajectory> {
    this.#borrowed.delete(trajectoryId);
    const trajectory = await this.#opened(trajectoryId);
    if (domain !== undefined) checkDomainOf(trajectory, domain);
    return trajectory;
  }

  /**
   * The writes of an opening. A runtime that may not write skips them.
   *
   * @internal
   */
  protected async complete(trajectory: Trajectory): Promise<void> {
    await trajectory.completeDelegations();
    this.#effects?.resumeAbandoned(trajectory.id);
  }

  #opened(trajectoryId: string): Promise<Trajectory> {
    let opened = this.#open.get(trajectoryId);
    if (opened === undefined) {
      opened = this.#reopened(trajectoryId);
      this.#open.set(trajectoryId, opened);
      opened.catch(() => this.#release(trajectoryId));
    }
    return opened;
  }

  /**
   * Revokes a writ in its trajectory, and in all trajectories that a descendant was delegated to
   * (`Trajectory.writs`). `trajectoryId` selects the trajectory. Its default is the trajectory
   * that `by` names, or else the trajectory of the revoked writ. A writ that names no trajectory is
   * valid in many, and is revoked in each separately.
   *
   * @throws RuntimeError `bad_intent` if `trajectoryId` is needed but missing, and the errors of
   * `open` and `TrajectoryWrits.revoke`; ArgumentError `bad_argument`
   */
  async revoke(options: RevocationInput & { readonly trajectoryId?: string }): Promise<Revocation> {
    checkArgument(arg.object, options, 'input');
    const { trajectoryId, ...input } = options;
    const where = trajectoryId ?? trajectoryOf(input.by) ?? trajectoryOf(input.writ);
    if (where === undefined)
      throw new RuntimeError(
        'bad_intent',
        'The revocation is not valid: it needs a trajectory, because the writs name none.',
      );
    return (await this.open(where)).writs.revoke(input);
  }

  async #reopened(trajectoryId: string): Promise<Trajectory> {
    const { folded, erasures, result } = await this.#reading.read(trajectoryId, this.#partsOf);
    this.#snapshots.leave(folded, erasures);
    const trajectory = new Trajectory(
      trajectoryId,
      { ...result, erasures },
      this.#context,
      (child) => this.open(child),
    );
    // Not if the trajectory was released in the meantime.
    if (this.#open.has(trajectoryId)) this.#begins(trajectory);
    // Another signer completes what a crash interrupted.
    if (isSigner(result.chain, this.#context.signer)) await this.complete(trajectory);
    Trajectory.openingCompleted(trajectory);
    return trajectory;
  }

  /** Releases an open trajectory and frees its memory. Writes a snapshot if one is due. */
  release(trajectoryId: string): void {
    const opened = this.#open.get(trajectoryId);
    this.#release(trajectoryId);
    if (opened === undefined) return;
    this.#snapshots.later(trajectoryId, async () => {
      const trajectory = await opened.catch(() => undefined);
      if (trajectory !== undefined) await this.#leaveSnapshot(trajectory);
    });
  }

  /**
   * Notes the next expiry. Leaves a snapshot between proposals, if enough entries were added since
   * the last one.
   */
  #entriesAdded(id: string): void {
    const trajectory = this.#writing.get(id);
    if (trajectory === undefined) return;
    this.#expiries?.note(id, Trajectory.nextExpiry(trajectory));
    if (this.#leaving.has(id)) return;
    if (!this.#snapshots.isDueAgain(id, trajectory.length)) return;
    this.#leaving.add(id);
    this.#snapshots.later(id, async () => {
      try {
        await setImmediate();
        await this.#leaveSnapshot(trajectory);
      } finally {
        this.#leaving.delete(id);
      }
    });
  }

  async #leaveSnapshot(trajectory: Trajectory): Promise<void> {
    const { id, length } = trajectory;
    if (
      !this.#snapshots.isDue(id, length) ||
      (await Trajectory.leaveSnapshot(trajectory, this.#snapshots))
    )
      return;
    const { folded, erasures } = await this.#reading.read(id, this.#partsOf);
    this.#snapshots.leave(folded, erasures);
  }

  /**
   * Aborts and compensates uncommitted transactions. Waits at most `timeoutMs` for that, for calls
   * in flight, and for committed work. Releases all open trajectories, and waits for the snapshots
   * being written. The store may be closed after that.
   *
   * Calls without an answer by then are cut, and `onCut` is notified of them. Their outcomes are
   * unknown, `effects` lists them, and the next process continues from the log, as after a crash.
   *
   * With `recover: false` the runtime adopts no more unfinished effects of earlier processes.
   * Adopted and approved transactions continue only until their next call; the rest stays for the
   * next process, as after a crash. Callers that wait for those effects or decide about them get
   * `closed`.
   *
   * @throws ArgumentError `bad_argument`
   */
  async close(options: CloseOptions = {}): Promise<void> {
    checkArgument(CLOSE_OPTIONS, options, 'options');
    const { timeoutMs, recover, onCut } = options;
    // Together, so that an open transaction gets no further call. The effect engine reports
    // outcomes to open trajectories, so they are released after it closes.
    const [cut = []] = await Promise.all([
      this.#effects?.close(timeoutMs, recover),
      this.#expiries?.close(),
      this.#follower.close(),
    ]);
    this.#snapshots.closing();
    for (const trajectoryId of [...this.#open.keys()]) this.release(trajectoryId);
    await this.#snapshots.settled();
    forgetWords();
    if (cut.length > 0) reportFailure(onCut, callsCut(cut));
  }

  /**
   * Adopts unfinished effects of an earlier process, and waits until every effect that needs no
   * human decision is done. The first transaction does the same, as does opening a trajectory with
   * unfinished effects. Returns the effects that need a human decision.
   *
   * @throws RuntimeError `bad_argument` without tools; while another process holds the effects, the
   * signal's reason, and `closed` when this runtime is closed
   */
  async recoverEffects(signal?: AbortSignal): Promise<UnresolvedEffect[]> {
    if (this.#effects === undefined) throw badOption('no tools are given; pass `tools`');
    return this.#effects.use(signal, async (held) => {
      await held.recovered();
      await held.recorded();
      return held.unresolved();
    });
  }

  /**
   * Records an operator's decision about an effect that is in doubt, or that could not be executed
   * or compensated. Then the transaction continues. Once no effect of it is unresolved, its claims
   * are released. A decision is recorded once. The operator is a counselor of the kind `operator`,
   * or has a writ for `assize.resolve_effect`.
   *
   * @throws EffectError `unauthorised_operator`, `bad_resolution`, `needs_confirmation`,
   * `wrong_state`, `not_found`, `already_done`, `lease_lost`, after which the call can be repeated;
   * RuntimeError `bad_argument` without tools (an empty list suffices if no tool must be called),
   * `domain_mismatch` without the domain or a writ, `bad_writ`, `unknown_writ`, `closed` when this
   * runtime is closed before the decision starts; ArgumentError `bad_argument`; the signal's reason
   */
  async resolveEffect(resolution: EffectResolution, signal?: AbortSignal): Promise<ResolvedEffect> {
    const checked = checkedEffectResolution(resolution);
    if (this.#effects === undefined) throw badOption('no tools are given; pass `tools`');
    const effects = this.#effects;
    return effects.use(signal, async (held) => {
      await held.recovered(checked.epoch);
      const known = await held.transaction(checked.epoch);
      if (known !== undefined) {
        const { folded } = await this.#reading.read(known.trajectoryId, unmade);
        requireOperatorRight(checked, known, folded, this.#context);
      }
      try {
        return await held.resolve(checked);
      } catch (error) {
        if (isInstance(error, EffectError) && error.code === 'lease_lost')
          await effects.restart(held, error);
        throw error;
      }
    });
  }

  /**
   * The tool transactions of the effect log: the unfinished ones by epoch, the requested one, or
   * all, newest first. The log is only read: no tools are needed, nothing is adopted, and active
   * transactions are not disturbed.
   *
   * @throws RuntimeError `bad_argument` if the store keeps no effect log, or if more than one of
   * these is requested; ArgumentError `bad_argument`
   */
  async effects(query: EffectsQuery = {}): Promise<EffectTransaction[]> {
    checkArgument(EFFECTS_QUERY, query, 'query');
    const { all = false, epoch, limit, before } = query;
    if (all ? epoch !== undefined : limit !== undefined || before !== undefined)
      throw badOption(
        '`limit` and `before` are for all transactions; leave them out with an epoch',
      );
    return readEffects(effectLogOf(this.#store), query);
  }

  /**
   * Waits until every effect of a commit has run or needs a human decision, in any process. Returns
   * the outcome of each effect, in the order of the commit.
   *
   * Covers commits that were approved or that belong to a named transaction. For other commits only
   * the process that made them gets the outcomes. No tools are needed. The next proposal may
   * observe these answers; for pivots, the ledger has the answers too. The store is polled a few
   * times a second for the work of other processes.
   *
   * @throws RuntimeError `not_found` for an id that is not such a commit, `still_pending` when the
   * clock reaches `until`, `bad_argument` if the store keeps no effect log; ArgumentError
   * `bad_argument`; the signal's reason
   */
  async awaitEffects(commitId: Hash, options: AwaitOptions = {}): Promise<EffectOutcome[]> {
    const { clock, pause } = this.#context;
    const told = async (): Promise<void> => this.#effects?.recorded();
    return awaitOutcomes(commitId, options, {
      store: effectLogOf(this.#store),
      clock,
      pause,
      recorded: told,
    });
  }

  /**
   * Recording outcomes of effects needs no domain. A trajectory that is not open here is read for
   * it and released.
   */
  #ledgerWriterOf(trajectoryId: string): LedgerWriter {
    // Not awaited: the completion of an opening may wait for these outcomes.
    const writing = this.#writing.get(trajectoryId);
    if (writing !== undefined) return Trajectory.ledgerWriter(writing);
    return this.#closedBooks.writerOf(trajectoryId);
  }

  /**
   * A trajectory that is not open here is opened if its domain is here, because its proposal must
   * be adjudicated.
   */
  async #proposeOnFailure(failure: FailedCommit): Promise<OnFailureOutcome | undefined> {
    const { trajectoryId } = failure;
    let trajectory = this.#writing.get(trajectoryId);
    try {
      trajectory ??= await this.open(trajectoryId);
    } catch (error) {
      if (isAssizeError(error, 'domain_mismatch') || isAssizeError(error, 'invalid_ledger'))
        return undefined;
      throw error;
    }
    return Trajectory.proposeOnFailure(trajectory, failure);
  }

  #release(trajectoryId: string): void {
    this.#open.delete(trajectoryId);
    if (this.#writing.delete(trajectoryId) && this.#writing.size === 0) this.#follower.changed();
  }

  /** A new trajectory, with the number of erasures before it was made. */
  async #begun(begin: () => Promise<CreatedTrajectory>): Promise<CreatedTrajectory> {
    const erasures = await this.#snapshots.erasures('the new trajectory');
    const { trajectoryId, parts } = await begin();
    return { trajectoryId, parts: { ...parts, erasures } };
  }

  /** From now on this runtime writes the new trajectory. */
  #writes({ trajectoryId, parts }: CreatedTrajectory): Trajectory {
    const trajectory = new Trajectory(trajectoryId, parts, this.#context, (child) =>
      this.open(child),
    );
    this.#open.set(trajectoryId, Promise.resolve(trajectory));
    this.#begins(trajectory);
    return trajectory;
  }

  #begins(trajectory: Trajectory): void {
    this.#writing.set(trajectory.id, trajectory);
    this.#expiries?.note(trajectory.id, Trajectory.nextExpiry(trajectory));
    if (this.background.follows) this.#follower.changed();
  }

  /** Values that a branch inherited, or that a delegation passed on, are in memory there too. */
  async #forgetErased(trajectoryId: string): Promise<void> {
    this.#replayer.forget();
    await this.#snapshots.drop(trajectoryId);
    for (const [name, opened] of this.#open) {
      if (name === trajectoryId) continue;
      // A trajectory that cannot be opened has nothing to evict, and its opener got the error.
      const trajectory = await opened.catch(() => undefined);
      await trajectory?.reload();
    }
  }

  /**
   * For a writer under contention. Keeps the folded entries as the base of the next reload, and
   * gives the writer a copy that shares the state.
   */
  async #reload(trajectoryId: string, before: ReplayBase | undefined): Promise<TrajectoryState> {
    const base = await this.#reading.readOn(trajectoryId, before, this.#partsOf);
    this.#expiries?.note(trajectoryId, base.chain.open.nextExpiry);
    return { ...this.#partsOf(copyOf(base)), erasures: base.erasures, base };
  }

  /** @throws RuntimeError `domain_mismatch`, `invalid_ledger` */
  readonly #partsOf = (folded: FoldedTrajectory): TrajectoryState => {
    const { trajectoryId, upgraded } = folded.chain;
    const domain = this.#context.domainOf(folded.domain, upgraded !== undefined, trajectoryId);
    return partsRead(folded, domain, this.#strict);
  };
}

const FROM_ONE = arg.of(
  'a whole number from 1',
  (value) => Number.isSafeInteger(value) && (value as number) > 0,
);

const BOOLEAN = arg.of('true or false', (value) => typeof value === 'boolean');

const MILLISECONDS = arg.of(
  'a whole number of milliseconds from 0 to 2,147,483,647',
  (value) => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31,
);

const CLOSE_OPTIONS = arg.options<CloseOptions>({
  recover: arg.optional(BOOLEAN),
  timeoutMs: arg.optional(MILLISECONDS),
  onCut: arg.optional(arg.code),
});

const EFFECTS_QUERY = arg.options<EffectsQuery>({
  trajectoryId: arg.optional(arg.text),
  epoch: arg.optional(FROM_ONE),
  all: arg.optional(BOOLEAN),
  limit: arg.optional(FROM_ONE),
  before: arg.optional(FROM_ONE),
});

function trajectoryOf(given: RevocationInput['writ']): string | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  return parseWrit('writ' in given ? given.writ : given).trajectory;
}
