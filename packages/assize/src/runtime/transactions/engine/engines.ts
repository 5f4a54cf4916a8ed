import { clearInterval, setInterval } from 'node:timers';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { isAssizeError } from '#base';
import {
  claimsOf,
  EffectError,
  type KnownTransaction,
  type Resolvers,
  readTransaction,
  requireOwnTool,
  type Tool,
  type Work,
} from '#effects';
import type { EffectStore, EntryRow, Hash, SharedEffectStore } from '#ledger';
import type { Pause, Random } from '#oracle';
import { RuntimeError } from '../../errors.ts';
import { CanonicalNames } from '../coordination/canonical-names.ts';
import { ExclusiveCoordinator } from '../coordination/coordination.ts';
import { openTransactions } from '../coordination/read-all.ts';
import { SharedCoordinator } from '../coordination/shared-coordinator.ts';
import { InFlight, type OpenCall } from '../limits/in-flight.ts';
import { SharedWait } from '../limits/shared-wait.ts';
import { type TimeLimit, withSignal } from '../limits/time-limit.ts';
import { LastErrors } from '../log/last-errors.ts';
import { UndoBudget } from '../log/undo-budget.ts';
import { LedgerEnds, type ReadEntries } from '../settle/ledger-ends.ts';
import type { LedgerWriter } from '../settle/ledger-writer.ts';
import type { FailedCommit, OnFailureOutcome } from '../settle/on-failure.ts';
import { OutcomeRecorder } from '../settle/settle.ts';
import { type CoordinatedLease, nextInLog, RETRY_MS, TransactionEngine } from './engine.ts';

/**
 * Maximum wait for the effects on open, to resume abandoned transactions. A permanent holder
 * resumes them itself, and a short-lived holder ends sooner. The limit is wall-clock time: with a
 * shorter one, a stalled machine would resume nothing.
 */
const LEFT_MS = 10_000;

/** Milliseconds between two looks of an exclusive holder whether another runtime waits. */
const LOOK_MS = 50;

/**
 * Maximum wait of new transactions for active ones to end, so that another runtime gets the
 * effects. After that, the active ones go on with the new ones, and the holder tries again later.
 */
const HAND_OVER_MS = 1_000;

/** The signal of a caller without one. */
const NEVER = new AbortController().signal;

/** Maximum wait of `close` by default. */
const CLOSE_TIMEOUT_MS = 10_000;

export interface EngineOptions {
  readonly store: EffectStore;
  readonly tools: readonly Tool[];
  readonly random: Random;
  readonly pause: Pause;
  readonly callTimeoutMs: number;
  readonly maxAttempts: number;
  readonly blockTimeoutMs: number;
  readonly leaseMs: number;
  readonly frontier: Frontier;
  readonly resolvers: Resolvers | undefined;
  readonly blob: (hash: Hash) => Promise<string | undefined>;
  readonly entry: (id: Hash) => Promise<EntryRow | undefined>;
  /** The entries of a trajectory in order, from that seq. */
  readonly entries: ReadEntries;
  /** @throws RuntimeError `wrong_signer` if another key signs the next entry of the trajectory */
  readonly requireSigner: (trajectoryId: string) => Promise<void>;
  /** Whether the trajectory was imported and not adopted. */
  readonly isElsewhere: (trajectoryId: string) => Promise<boolean>;
  /** The key of the MACs of the effect log's rows. */
  readonly recoveryKey: Uint8Array;
  readonly onRecoveryFailed?: ((error: RuntimeError) => void) | undefined;
  /** The ledger writer of a trajectory. */
  readonly ledgerWriterOf: (trajectoryId: string) => LedgerWriter;
  /**
   * Proposes the action to commit after effects have failed. Undefined if this process cannot
   * propose it.
   */
  readonly proposeOnFailure: (failure: FailedCommit) => Promise<OnFailureOutcome | undefined>;
}

/**
 * `derived`: conflicting transactions act in the order of their epochs
 * (docs/decisions/015-effect-order.md). `none`: they act as they arrive, and updates are lost. Use
 * `none` only for experiments that measure the frontier.
 */
export type Frontier = 'derived' | 'none';

/**
 * The tool transactions of this process, on all trajectories of a store. It adopts abandoned
 * transactions. It shares the effect log with other processes if the store supports that, and
 * otherwise holds it exclusively.
 */
export class TransactionEngines {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly inFlight = new InFlight();
  readonly #options: EngineOptions;
  readonly #names: CanonicalNames;
  #place: SharedWait<TransactionEngine> | undefined;
  /** The lease or membership that a caller requested, and not only recovery. */
  #asked: SharedWait<TransactionEngine> | undefined;
  /** Opened trajectories that are not yet searched for abandoned transactions. */
  readonly #opened = new Set<string>();
  /** The search for abandoned transactions and their recovery, while it is in progress. */
  #resuming: Promise<void> | undefined;
  #reserved: UndoBudget = new UndoBudget();
  readonly #lastErrors = new LastErrors();
  /** Transactions that started here and have not ended, each with the promise of its end. */
  readonly #attended = new Map<TimeLimit, Promise<void>>();
  /** Aborted when this process stops the recovery of abandoned transactions. */
  readonly #leaving = new AbortController();
  #isClosed = false;
  #closing: Promise<readonly OpenCall[]> | undefined;
  /** The callers that work under the lease. */
  readonly #users = new Set<object>();
  /** The attempt to release the lease to another runtime, while it is in progress. */
  #handingOver: Promise<void> | undefined;

  /**
   * @throws EffectError `invalid_tool` for two tools of one name or two incompatible tools,
   * `bad_resolver`; DuplicatePackageError `duplicate_package`
   */
  constructor(options: EngineOptions) {
    this.#options = options;
    this.#names = new CanonicalNames(options.resolvers, options.callTimeoutMs);
    const tools = new Map<string, Tool>();
    for (const tool of options.tools) {
      if (typeof tool?.parse !== 'function' || typeof tool.claims !== 'function')
        throw new EffectError(
          'invalid_tool',
          'A given tool is not valid. Create it with declareTool.',
        );
      requireOwnTool(tool);
      if (tools.has(tool.name))
        throw new EffectError(
          'invalid_tool',
          `Two tools are named ${tool.name}. Rename one of them.`,
        );
      for (const other of tools.values()) requireCompatible(tool, other);
      tools.set(tool.name, tool);
    }
    this.tools = tools;
  }

  /** The names of resources. They need no lease. */
  get names(): CanonicalNames {
    return this.#names;
  }

  /** Milliseconds that a body may be idle, if its transaction sets no `idleTimeoutMs`. */
  get idleTimeoutMs(): number {
    return idleOf(this.#options.blockTimeoutMs);
  }

  /**
   * The budget reserved to compensate the effects of active transactions, since each was started or
   * adopted.
   */
  get reserved(): UndoBudget {
    return this.#reserved;
  }

  /**
   * Acquires the lease or joins the group, and adopts abandoned transactions. Later callers share a
   * wait in progress, as long as their own signals allow. An exclusive lease is not released to
   * another runtime before `leave` is called with the same user; `track` does that for its limit.
   *
   * @throws the signal's reason; RuntimeError `closed`; StoreError from the store
   */
  engine(user: object, signal?: AbortSignal): Promise<TransactionEngine> | TransactionEngine {
    const held = this.#place?.value;
    if (held === undefined || held.isLeaseLost || this.#handingOver !== undefined)
      return this.#acquire(user, signal);
    this.#asked = this.#place;
    this.#users.add(user);
    return held;
  }

  /** Works under the lease until `work` has ended. @throws as `engine`; the errors of `work` */
  async use<T>(
    signal: AbortSignal | undefined,
    work: (held: TransactionEngine) => Promise<T>,
  ): Promise<T> {
    const user = {};
    try {
      return await work(await this.engine(user, signal));
    } finally {
      this.leave(user);
    }
  }

  /** The user of `engine` needs the lease no more. */
  leave(user: object): void {
    this.#users.delete(user);
  }

  /** `user`: undefined if only recovery has requested the lease. */
  async #acquire(
    user: object | undefined,
    signal: AbortSignal | undefined,
  ): Promise<TransactionEngine> {
    for (;;) {
      while (this.#place?.isAbandoned) await this.#place.settled();
      const handingOver = this.#handingOver;
      if (handingOver !== undefined) await withSignal(signal ?? NEVER, () => handingOver);
      // Without this check, the lease would never be released.
      if (this.#isClosed) return throwAfterTurn(closed());
      if (!this.#hasPlace) this.#place = new SharedWait((over) => this.#begin(over));
      const place = this.#place!;
      if (user !== undefined) this.#asked = place;
      const held = await place.wait(signal);
      if (this.#place !== place || this.#handingOver !== undefined) continue;
      if (!held.isLeaseLost) {
        if (user !== undefined) this.#users.add(user);
        return held;
      }
      await this.restart(held, held.coordination.lost.reason);
    }
  }

  /** Whether the lease or membership is held or requested. */
  get #hasPlace(): boolean {
    return this.#place !== undefined && !this.#place.hasFailed && !this.#place.isAbandoned;
  }

  /**
   * Starts to resume abandoned transactions of a trajectory, if this process has their tools and is
   * otherwise idle. Only `close` waits for it. In exclusive mode, the holder resumes all abandoned
   * transactions. Never fails: an obstacle also fails the next transaction, and that reports it.
   */
  resumeAbandoned(trajectoryId: string): void {
    if (this.#hasPlace || this.#isClosed || this.tools.size === 0) return;
    this.#opened.add(trajectoryId);
    this.#resuming ??= this.#resumeOpened();
  }

  /**
   * Runs one search after another. A search does not see transactions abandoned after it has read
   * the log.
   */
  async #resumeOpened(): Promise<void> {
    while (this.#opened.size > 0) {
      // Trajectories that are opened at the same time share one search.
      await nextTurn();
      const opened = new Set(this.#opened);
      this.#opened.clear();
      if (this.#hasPlace || this.#isClosed) continue;
      const hasLeft = await this.#hasAbandoned(opened).catch(() => false);
      if (hasLeft && !this.#hasPlace) await this.#finishAbandoned().catch(() => undefined);
    }
    this.#resuming = undefined;
  }

  async #hasAbandoned(trajectoryIds: ReadonlySet<string>): Promise<boolean> {
    const [only] = trajectoryIds.size === 1 ? trajectoryIds : [];
    for await (const logged of openTransactions(this.#options.store, only))
      if (trajectoryIds.has(logged.trajectory_id) && this.#canResume(readTransaction(logged)))
        return true;
    return false;
  }

  /**
   * An exclusive holder releases the store as soon as recovery ends. A group member blocks no other
   * process and stays a member.
   */
  async #finishAbandoned(): Promise<void> {
    const held = await this.#acquire(undefined, AbortSignal.timeout(LEFT_MS));
    if (isShared(this.#options.store)) return;
    await held.drained();
    if (this.#place?.value !== held || this.#asked === this.#place) return;
    this.#place = undefined;
    // No transaction is active here any more. Unresolved ones belong to the next lease holder.
    this.#reserved = new UndoBudget();
    await held.close(closed());
  }

  /**
   * Whether the transaction can advance with the tools of this process and without a human
   * decision.
   */
  #canResume(known: KnownTransaction): boolean {
    const next = nextInLog(known, { tools: this.tools, maxAttempts: this.#options.maxAttempts });
    return next.do !== 'wait' && known.effects.every(({ tool }) => this.tools.has(tool));
  }

  /**
   * Discards the state in memory. The next caller acquires the lease again and resumes from the
   * log. `why`: the error for the transactions that are active under the old lease.
   */
  async restart(held: TransactionEngine, why: unknown): Promise<void> {
    // If several callers notice it together, one of them restarts. By now a new lease may be held.
    if (this.#place?.value !== held) return;
    this.#place = undefined;
    await held.release(why);
  }

  /** Looks whether another runtime waits for an exclusive lease, as long as it is held. */
  #watchQueue(held: TransactionEngine, isWanted: () => boolean): void {
    let pausedLooks = 0;
    const timer = setInterval(() => {
      if (this.#place?.value !== held || held.isLeaseLost) return clearInterval(timer);
      if (this.#handingOver !== undefined || pausedLooks-- > 0) return;
      let isAsked: boolean;
      try {
        isAsked = isWanted();
      } catch {
        // A fault of the store. The lease is given back, and the next caller gets the fault.
        isAsked = true;
      }
      if (!isAsked) return;
      this.#handingOver = this.#handOver(held).then(
        () => undefined,
        // The failure also reaches the next caller, with the lost lease.
        () => undefined,
      );
      void this.#handingOver.then(() => {
        this.#handingOver = undefined;
        pausedLooks = HAND_OVER_MS / LOOK_MS;
      });
    }, LOOK_MS).unref();
  }

  /**
   * Releases the lease to the runtime that waits for it, once no transaction is active here. New
   * ones wait meanwhile, and then for the next lease.
   */
  async #handOver(held: TransactionEngine): Promise<void> {
    // Counts pauses, because a test can stop the clock.
    for (let pauses = 0; this.#users.size > 0 || held.isBusy; pauses++) {
      if (pauses > HAND_OVER_MS || this.#isClosed) return;
      // Callers of `engine` and `close` wait for this, so the process must not end meanwhile.
      await sleep(1);
    }
    if (this.#place?.value !== held) return;
    this.#place = undefined;
    // Unresolved transactions belong to the next lease holder.
    this.#reserved = new UndoBudget();
    await held.close(closed());
  }

  /** Resolves when everything that can be settled now is in the ledger. */
  async recorded(): Promise<void> {
    await this.#place?.value?.recorded();
  }

  /**
   * Tracks a transaction until it has ended. `close` stops it by its limit and waits until it is
   * compensated or committed.
   * @throws RuntimeError `closed`; the errors of `make`
   */
  track<T>(limit: TimeLimit, make: () => Promise<T>): Promise<T> {
    if (this.#isClosed) {
      // Otherwise the limit would listen to the caller's signal permanently.
      limit.end();
      throw closed();
    }
    const { promise: isOver, resolve } = Promise.withResolvers<void>();
    const over = (): void => {
      this.#attended.delete(limit);
      this.leave(limit);
      limit.end();
      resolve();
    };
    // Registered before the start: the body can run synchronously and call `close`.
    this.#attended.set(limit, isOver);
    try {
      const made = make();
      made.then(over, over);
      return made;
    } catch (error) {
      over();
      throw error;
    }
  }

  /**
   * Stops uncommitted transactions, waits until they are compensated and committed ones are done
   * where possible, and releases the lease. Pending requests for the lease are rejected. Without
   * `recover`, abandoned transactions only finish their current step and stay abandoned. After
   * `withinMs` the lease ends with everything that is still active, and the next owner of the lease
   * resumes it from the log. Returns the calls without an answer then.
   */
  close(withinMs = CLOSE_TIMEOUT_MS, recover = true): Promise<readonly OpenCall[]> {
    this.#isClosed = true;
    if (!recover) this.#leaving.abort(closed());
    // A second call of `close` waits for the first. After a failure, it continues with the
    // remaining steps.
    this.#closing ??= this.#closeWithin(withinMs).finally(() => {
      this.#closing = undefined;
    });
    return this.#closing;
  }

  async #closeWithin(withinMs: number): Promise<readonly OpenCall[]> {
    const held = this.#place?.value;
    const limit = new AbortController();
    const ended = this.#close(limit.signal);
    const isLate = sleep(withinMs, true, { signal: limit.signal }).catch(() => false);
    try {
      if (!(await Promise.race([ended.then(() => false), isLate]))) return [];
    } finally {
      limit.abort();
    }
    // Its last steps fail, because the lease has ended.
    ended.catch(() => undefined);
    const cut = this.inFlight.open();
    await held?.release(closed());
    return cut;
  }

  /** `late`: aborted when the lease has ended in another way. */
  async #close(late: AbortSignal): Promise<void> {
    const stopping = [...this.#attended.values()];
    for (const limit of this.#attended.keys()) limit.stop(closed());
    await Promise.all(stopping);
    await this.#handingOver;
    const place = this.#place;
    this.#place = undefined;
    place?.abandon(closed());
    await place?.settled();
    if (!late.aborted) await place?.value?.close(closed());
    await this.#resuming;
  }

  async #begin(signal: AbortSignal): Promise<TransactionEngine> {
    const {
      store,
      random,
      pause,
      callTimeoutMs,
      maxAttempts,
      blockTimeoutMs,
      blob,
      entry,
      entries,
      requireSigner,
      isElsewhere,
      recoveryKey,
      ledgerWriterOf,
      proposeOnFailure,
    } = this.#options;
    const place = isShared(store) ? await this.#join(store, signal) : await this.#keep(signal);
    const { coordination } = place;
    // The lease was granted although the wait had been cancelled.
    if (signal.aborted) {
      await coordination.close();
      await place.release();
      throw signal.reason;
    }
    const outcomes = new OutcomeRecorder(store, coordination.fence, ledgerWriterOf);
    const ends = new LedgerEnds(entries);
    const undoBudget = new UndoBudget();
    const around = {
      random,
      pause,
      callTimeoutMs,
      callBudgetMs: patienceOf(blockTimeoutMs),
      maxAttempts,
      blob,
      ledger: {
        entry,
        requireSigner,
        isElsewhere,
        openEffects: outcomes.openEffects.bind(outcomes),
        refuseEnded: ends.refuseEnded.bind(ends),
      },
      recoveryKey,
      proposeOnFailure,
      lastErrors: this.#lastErrors,
    };
    const { tools, inFlight } = this;
    const { signal: leaving } = this.#leaving;
    const ports = {
      store,
      coordination,
      tools,
      outcomes,
      undoBudget,
      inFlight,
      leaving,
      ...around,
    };
    // Earlier transactions are adopted, here or in another process.
    this.#reserved = undoBudget;
    const held = new TransactionEngine(place, ports, this.#names, this.#options.onRecoveryFailed);
    coordination.lost.addEventListener('abort', () => void this.#rejoin(held), { once: true });
    if (place.isWanted !== undefined) this.#watchQueue(held, place.isWanted);
    return held;
  }

  /**
   * Resumes the transactions that this process lost, even if no caller starts another one. The
   * first process to acquire the lease resumes them.
   */
  async #rejoin(lost: TransactionEngine): Promise<void> {
    await this.restart(lost, lost.coordination.lost.reason).catch(() => undefined);
    while (!this.#isClosed && this.#place?.value === undefined) {
      await sleep(RETRY_MS, undefined, { ref: false });
      if (this.#isClosed) return;
      const goingOn = isShared(this.#options.store)
        ? this.#acquire(this, undefined)
        : this.#finishAbandoned();
      const failure = await goingOn.then(
        () => undefined,
        (error: unknown) => error,
      );
      // A process that holds the store exclusively for that long has adopted all abandoned
      // transactions.
      const isElsewhere = failure instanceof DOMException;
      if (failure === undefined || isElsewhere || isAssizeError(failure, 'store_closed')) return;
    }
  }

  async #join(store: SharedEffectStore, signal: AbortSignal): Promise<CoordinatedLease> {
    const { leaseMs } = this.#options;
    const membership = await store.joinEffects({ leaseMs, signal });
    try {
      const coordination = await SharedCoordinator.join({
        membership,
        store,
        leaseMs,
        isOrdered: this.#isOrdered,
      });
      return { coordination, release: () => membership.release() };
    } catch (error) {
      await membership.release();
      throw error;
    }
  }

  async #keep(signal: AbortSignal): Promise<CoordinatedLease> {
    const { store } = this.#options;
    const tenure = await store.leaseEffects(signal);
    try {
      const open: Work[] = [];
      for await (const logged of openTransactions(store))
        open.push({ epoch: logged.epoch, claims: claimsOf(readTransaction(logged)) });
      const coordination = new ExclusiveCoordinator(
        tenure.fence,
        tenure.lastEpoch,
        open,
        this.#isOrdered,
      );
      const isWanted = tenure.isWanted && (() => tenure.isWanted!());
      return { coordination, isWanted, release: () => tenure.release() };
    } catch (error) {
      await tenure.release();
      throw error;
    }
  }

  get #isOrdered(): boolean {
    return this.#options.frontier === 'derived';
  }
}

/** Half of `blockTimeoutMs` is for an idle body, the other half for calls without an answer. */
function idleOf(blockTimeoutMs: number): number {
  return Math.ceil(blockTimeoutMs / 2);
}

function patienceOf(blockTimeoutMs: number): number {
  return Math.floor(blockTimeoutMs / 2);
}

/** Asks both tools, because either may declare the problem. @throws EffectError `invalid_tool` */
function requireCompatible(tool: Tool, earlier: Tool): void {
  for (const [one, other] of [
    [tool, earlier],
    [earlier, tool],
  ] as const) {
    const problem = one.spec.conflictWith?.(other);
    if (problem === undefined) continue;
    const why = `The tools ${one.name} and ${other.name} cannot be used together: ${problem}.`;
    throw new EffectError('invalid_tool', why, { evidence: { tool: one.name } });
  }
}

function closed(): RuntimeError {
  return new RuntimeError('closed', 'The runtime was closed. Open another one.');
}

/**
 * Throws the error. If the error is `closed`, throws it in a later turn of the event loop.
 * Otherwise a caller that retries immediately would block the loop.
 */
export async function throwAfterTurn(error: unknown): Promise<never> {
  if (isAssizeError(error, 'closed')) await nextTurn();
  throw error;
}

function isShared(store: EffectStore): store is SharedEffectStore {
  return typeof (store as Partial<SharedEffectStore>).joinEffects === 'function';
}
