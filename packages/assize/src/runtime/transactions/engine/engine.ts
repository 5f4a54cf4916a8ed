import { isInstance } from '#base';
import {
  batchesOf,
  type Claim,
  claimsOf,
  EffectError,
  isNameClaim,
  isUnresolved,
  type KnownTransaction,
  nextStep,
  RowAuthentication,
  readTransaction,
  readWithCommittedKeys,
  type Stale,
  type Step,
  type TransactionBody,
  type TransactionState,
  type Work,
} from '#effects';
import type { Hash } from '#ledger';
import { leaseLost } from '../../writer/append-errors.ts';
import type { CanonicalNames } from '../coordination/canonical-names.ts';
import type { Coordination } from '../coordination/coordination.ts';
import { Semaphore } from '../limits/semaphore.ts';
import {
  type AdvanceResult,
  type ConfirmedTransaction,
  type TransactionPorts,
  TransactionRun,
} from '../log/advance.ts';
import { requireCommit } from '../log/require-commit.ts';
import { reservationsOf } from '../log/undo-budget.ts';
import { quarantinedClaims, touchedBy } from '../settle/quarantine.ts';
import { type CheckedResolution, checkUnresolved, type ResolvedEffect } from './human-decision.ts';
import { RecoveryFailures } from './recovery-failures.ts';

/** An effect that needs a human decision. */
export interface UnresolvedEffect {
  readonly epoch: number;
  readonly trajectoryId: string;
  /** The effect's index in its transaction. */
  readonly n: number;
  readonly tool: string;
  readonly key: Hash;
  readonly phase: string;
  /** The tool's code for the reason (`NoAnswer`). Undefined if the tool gave no code. */
  readonly why?: string;
  /**
   * The error of the last call, if this process made the call. Its message can contain any data, so
   * no log stores the error.
   */
  readonly error?: unknown;
  /**
   * The scopes of the effect, or all scopes of the transaction if the effect's scopes were erased.
   * They stay blocked until the effect is resolved.
   */
  readonly claims: readonly Claim[];
}

/** A transaction with its epoch. */
export interface StartedTransaction {
  readonly run: TransactionRun;
  readonly work: Work;
}

/** The lease or membership of this process, with the coordination of scope claims. */
export interface CoordinatedLease {
  readonly coordination: Coordination;
  /** Whether another runtime waits for an exclusive lease. Undefined if that is unknown. */
  readonly isWanted?: (() => boolean) | undefined;
  release(): Promise<void>;
}

/** Milliseconds before a failed store operation is retried. */
export const RETRY_MS = 1_000;
/**
 * Milliseconds that an abandoned transaction must stay unchanged before this process adopts it. A
 * process that retries its own transaction does so sooner.
 */
const ADOPT_AFTER_MS = 3 * RETRY_MS;

/**
 * Maximum number of transactions that are read from the log at the same time to find their next
 * step.
 */
const INSPECTED_AT_ONCE = 100;

/**
 * Maximum number of recovered transactions with the same tools that call them at the same time. A
 * tool that gives no answer so delays only transactions that need this tool.
 */
export const RESUMED_AT_ONCE = 64;

/** The transactions that run under one lease or membership. */
export class TransactionEngine {
  readonly ports: TransactionPorts;
  readonly names: CanonicalNames;
  readonly #place: CoordinatedLease;
  /** Decisions in progress, by the epoch of their transaction. */
  readonly #resolving = new Map<number, Promise<void>>();
  readonly #inFlight = new Set<Promise<void>>();
  readonly #inspections = new Semaphore(INSPECTED_AT_ONCE);
  /** The recovered transactions that call tools, by the names of the tools. */
  readonly #resumed = new Map<string, Semaphore>();
  /** Timers of transactions that wait for a retry after a store error. */
  readonly #timers = new Set<NodeJS.Timeout>();
  /** Timers of transactions that other processes abandoned, by epoch. */
  readonly #offers = new Map<number, NodeJS.Timeout>();
  /**
   * The log length of each transaction that lacked something in this process, by epoch. At the same
   * length a retry would lack it again.
   */
  readonly #blocked = new Map<number, number>();
  readonly #failures: RecoveryFailures;
  /** The looked-up trajectories whose tools this store calls. */
  readonly #own = new Set<string>();
  #isClosing = false;
  /** The error for calls after close. */
  #closed: Error | undefined;

  constructor(
    place: CoordinatedLease,
    ports: TransactionPorts,
    names: CanonicalNames,
    onRecoveryFailed?: ConstructorParameters<typeof RecoveryFailures>[0],
  ) {
    this.#failures = new RecoveryFailures(onRecoveryFailed);
    this.#place = place;
    this.ports = ports;
    this.names = names;
    place.coordination.onResumable(
      (epoch) => this.#resume(epoch),
      (epoch) => this.#onOffered(epoch),
    );
  }

  get coordination(): Coordination {
    return this.ports.coordination;
  }

  /** Whether a transaction ends, is resumed, or is to be retried here. */
  get isBusy(): boolean {
    return this.#inFlight.size > 0 || this.#timers.size > 0;
  }

  /** Whether unresolved transactions now belong to the next process. */
  get #isLeaving(): boolean {
    return this.ports.leaving.aborted;
  }

  /** Whether the lease is lost, so that another process may resume these transactions. */
  get isLeaseLost(): boolean {
    return this.coordination.lost.aborted;
  }

  /**
   * `isNamed`: whether the caller chose the name, so that the name can be used again.
   * @throws EffectError `imported_trajectory`
   */
  begin(
    trajectoryId: string,
    claims: readonly Claim[],
    body: TransactionBody,
    isNamed: boolean,
  ): Promise<StartedTransaction> | StartedTransaction {
    if (!this.#own.has(trajectoryId))
      return this.#requireOwn(trajectoryId).then(() =>
        this.begin(trajectoryId, claims, body, isNamed),
      );
    const begun = (work: Work): StartedTransaction => ({
      work,
      run: new TransactionRun(this.ports, { epoch: work.epoch, trajectoryId, body, isNamed }),
    });
    const work = this.coordination.begin(claims);
    return work instanceof Promise ? work.then(begun) : begun(work);
  }

  /** Two stores with the same trajectory would make the same calls. */
  async #requireOwn(trajectoryId: string): Promise<void> {
    if (await this.ports.ledger.isElsewhere(trajectoryId))
      throw new EffectError(
        'imported_trajectory',
        `The trajectory ${trajectoryId} was imported, and this store calls no tools for it: the store that it came from may call them too. Retire that store (assize restore retire), then run assize restore adopt ${trajectoryId} here.`,
        { evidence: { trajectoryId } },
      );
    this.#own.add(trajectoryId);
  }

  /** Claims more scopes. @throws EffectError `resource_in_doubt`, `lease_lost` */
  async expand(
    { run, work }: StartedTransaction,
    claims: readonly Claim[],
  ): Promise<Stale | undefined> {
    this.requireNoDoubts(claims);
    const stale = await this.coordination.expand(work, claims);
    if (stale === undefined) run.expanded(claims);
    return stale;
  }

  /** @throws EffectError `resource_in_doubt` if an unresolved effect blocks one of the scopes */
  requireNoDoubts(claims: readonly Claim[]): void {
    for (const claim of claims) {
      const epoch = this.coordination.doubtAt(claim);
      if (epoch === undefined) continue;
      throw new EffectError(
        'resource_in_doubt',
        isNameClaim(claim)
          ? `An earlier attempt of that name, transaction ${epoch}, needs a human decision. Resolve it first (assize effects list).`
          : `An unresolved effect of transaction ${epoch} blocks ${claim.scope.text}. Resolve it first (assize effects list).`,
        { evidence: { epoch, scope: claim.scope.text } },
      );
    }
  }

  /**
   * Resolves when the claims are granted; by default, all claims of the work. From then on the work
   * counts as active on these scopes. Returns undefined if the claims are granted immediately.
   * @throws EffectError `resource_in_doubt` if an older transaction left an unresolved effect; the
   * signal's reason
   */
  acquire(
    work: Work,
    claims: readonly Claim[] = work.claims,
    signal?: AbortSignal,
  ): Promise<void> | undefined {
    const clear = this.coordination.acquire(work, claims, signal);
    if (clear !== undefined) return clear.then(() => this.requireNoDoubts(claims));
    this.requireNoDoubts(claims);
    return undefined;
  }

  /**
   * Advances a committed or recovered transaction. Releases its claims before it returns, except
   * quarantined ones. `later`: the engine retries the transaction automatically.
   */
  finish(run: TransactionRun): Promise<AdvanceResult> {
    return this.#track(this.#finish(run, undefined));
  }

  /**
   * The same for a transaction that was committed before its claims were granted. Its effects wait
   * for older transactions at the same scopes. `retry_later`: the engine advances it by itself.
   */
  finishInTurn({ run, work }: StartedTransaction): Promise<AdvanceResult> {
    const finish = async (): Promise<AdvanceResult> => {
      try {
        await this.acquire(work, undefined, this.ports.leaving);
      } catch {
        // A doubt at a scope, or the end of this process. The commit stands, as after a crash.
        await this.#park(run.epoch, true);
        return 'retry_later';
      }
      return this.#finish(run, undefined);
    };
    return this.#track(finish());
  }

  /** Compensates an uncommitted transaction, and releases its claims as `finish` does. */
  async abort({ run, work }: StartedTransaction, cause: string): Promise<AdvanceResult> {
    if (run.isLogged) return this.#track(this.#finish(run, cause));
    this.discard(work);
    return 'ended';
  }

  async #finish(run: TransactionRun, cause: string | undefined): Promise<AdvanceResult> {
    let end: AdvanceResult | undefined;
    let kept: readonly Claim[] | undefined;
    try {
      if (cause !== undefined) await run.abort(cause);
      const moved = await run.advance(false);
      if (moved !== 'ended') {
        // The next owner reads the log back. An unlogged call would run again or be in doubt.
        await run.flushed();
        run.check();
        kept = await quarantinedClaims(run, this.ports.blob);
      }
      // Runs while this process owns the transaction. Later, an effect that another process has
      // resolved could be recorded as unresolved again.
      if (moved === 'needs_human')
        await this.ports.outcomes.submitUnresolved(run.trajectoryId, run.unresolved);
      end = moved;
      this.#noteBlocked(run, moved);
      // A new attempt reads the outcome of this one from the log.
      if (run.state.phase === 'aborted') await run.flushed();
    } finally {
      const settled = run.flushed();
      if (settled !== undefined) this.#track(settled);
      if (end === 'ended') this.coordination.end(run.epoch, run.ended);
      // Also applies if the log write failed: the log's content is unknown until it can be written.
      else await this.#park(run.epoch, end === 'retry_later' || end === undefined, kept);
    }
    return end;
  }

  #noteBlocked({ epoch, length }: TransactionRun, end: AdvanceResult): void {
    if (end === 'missing_dependency') this.#blocked.set(epoch, length);
    else this.#blocked.delete(epoch);
  }

  /** The kept claims stay blocked. `again`: the engine retries the transaction after a while. */
  async #park(epoch: number, again: boolean, kept?: readonly Claim[]): Promise<void> {
    // The next owner of the lease resumes this transaction with all others. Without this check,
    // other processes would see an unresolved effect first.
    if (again && this.#isLeaving) return;
    if (again && !this.#isClosing) {
      const timer = setTimeout(() => void this.#retryLater(epoch, timer), RETRY_MS).unref();
      this.#timers.add(timer);
    }
    await this.coordination.park(epoch, kept);
  }

  async #retryLater(epoch: number, timer: NodeJS.Timeout): Promise<void> {
    this.#timers.delete(timer);
    const isMine = await this.coordination.adopt(epoch).catch(() => false);
    if (isMine) this.#resume(epoch);
  }

  /**
   * Another process abandoned the transaction, perhaps because it lacks a tool that this process
   * has.
   */
  #onOffered(epoch: number): void {
    clearTimeout(this.#offers.get(epoch));
    if (this.#isClosing || this.#isLeaving) return;
    const timer = setTimeout(() => {
      this.#offers.delete(epoch);
      void this.#inspectAbandoned(epoch);
    }, ADOPT_AFTER_MS).unref();
    this.#offers.set(epoch, timer);
  }

  /** On an error, the transaction stays unresolved and the error is reported. */
  #inspectAbandoned(epoch: number): Promise<void> {
    const looked = this.#inspections
      .run(() => this.#tryResume(epoch))
      .catch((error: unknown) => this.#resumeFailed(epoch, error));
    this.#track(looked);
    return looked;
  }

  /**
   * Resumes an abandoned transaction that needs no human decision. Skips it if nothing changed
   * since the last attempt in this process.
   */
  async #tryResume(epoch: number): Promise<void> {
    const { coordination } = this;
    if (this.#isLeaving || !coordination.isParked(epoch)) return;
    const known = await this.#known(epoch);
    if (known === undefined || this.#blocked.get(epoch) === known.length) return;
    const next = nextInLog(known, this.ports);
    if (next.do === 'wait' || next.do === 'nothing') return;
    if (await coordination.adopt(epoch)) this.#resume(epoch);
  }

  /** Ends a transaction without entries in the log. */
  discard({ epoch }: Work): void {
    this.ports.undoBudget.drop(epoch);
    this.coordination.end(epoch, Promise.resolve());
  }

  /** The effects that need a human decision, of all processes. */
  async unresolved(): Promise<UnresolvedEffect[]> {
    const all = this.coordination.parked().map((epoch) =>
      this.#inspections.run(async () => {
        const known = await this.#known(epoch);
        return known === undefined ? [] : leftOf(known, this.ports);
      }),
    );
    return (await Promise.all(all)).flat();
  }

  /**
   * Records an operator's decision and resumes the transaction. Releases the kept claims that no
   * unresolved effect needs any more. Decisions on one transaction run in order.
   *
   * @throws EffectError `bad_resolution`, `needs_confirmation`, `not_found`, `wrong_state`,
   * `already_done`, `lease_lost`; the close error, or the reason why recovery stopped, with nothing
   * recorded
   */
  async resolve(resolution: CheckedResolution): Promise<ResolvedEffect> {
    // No caller would wait for the result.
    if (this.#closed !== undefined) throw this.#closed;
    const { epoch } = resolution;
    const made = (this.#resolving.get(epoch) ?? Promise.resolve()).then(() =>
      this.#resolve(resolution),
    );
    const done = made.then(
      () => undefined,
      () => undefined,
    );
    this.#resolving.set(epoch, done);
    this.#track(done);
    void done.then(() => {
      if (this.#resolving.get(epoch) === done) this.#resolving.delete(epoch);
    });
    return made;
  }

  async #resolve(resolution: CheckedResolution): Promise<ResolvedEffect> {
    const { epoch } = resolution;
    const { coordination } = this;
    this.ports.leaving.throwIfAborted();
    checkUnresolved(resolution, await this.#known(epoch), coordination.isParked(epoch));
    // Another process may have adopted the transaction first, and is advancing it.
    if (!(await coordination.adopt(epoch)))
      checkUnresolved(resolution, await this.#known(epoch), false);
    let end: AdvanceResult = 'needs_human';
    let run: TransactionRun | undefined;
    let kept: readonly Claim[] | undefined;
    try {
      // Reads from the log, because memory can be ahead of a log that could not be written.
      const confirmed = await this.#confirmed(epoch);
      checkUnresolved(resolution, confirmed?.known, true);
      run = TransactionRun.recover(this.ports, confirmed as ConfirmedTransaction);
      // If a log write fails from here on, the decision may already be in the log. The engine must
      // then retry the remaining steps.
      end = 'retry_later';
      end = await this.#carryOut(run, resolution);
      this.#noteBlocked(run, end);
      if (end !== 'ended') kept = await quarantinedClaims(run, this.ports.blob);
    } finally {
      if (end === 'ended') coordination.end(epoch, run!.ended);
      else await this.#park(epoch, end === 'retry_later', kept);
    }
    const { n } = resolution;
    return {
      epoch,
      trajectoryId: run.trajectoryId,
      n,
      tool: run.effects[n]!.tool,
      key: run.effects[n]!.key,
      phase: run.state.effects[n]!.phase,
      transaction: run.state.phase,
      unresolved: run.state.effects.filter(({ phase }) => isUnresolved(phase)).length,
    };
  }

  async #carryOut(run: TransactionRun, resolution: CheckedResolution): Promise<AdvanceResult> {
    await run.resolve(resolution);
    const end = await run.advance(false);
    await run.flushed();
    if (end !== 'ended') run.check();
    // The operator sees the result in the next read.
    await this.ports.outcomes.flush();
    return end;
  }

  /** A transaction as the log has it. Undefined if the log has no entry of it. */
  async transaction(epoch: number): Promise<KnownTransaction | undefined> {
    return this.#known(epoch);
  }

  async #known(epoch: number): Promise<KnownTransaction | undefined> {
    const logged = await this.ports.store.effectsOf(epoch);
    return logged && readTransaction(logged);
  }

  /** A transaction that this process may act for. @throws EffectError `log_damaged` */
  async #confirmed(epoch: number): Promise<ConfirmedTransaction | undefined> {
    const logged = await this.ports.store.effectsOf(epoch);
    if (logged === undefined) return undefined;
    const read = readWithCommittedKeys(logged);
    this.#reserve(read.known);
    const committed = await requireCommit(read, this.ports.ledger);
    const authentication = RowAuthentication.read(this.ports.recoveryKey, logged);
    return { known: read.known, authentication, committed };
  }

  /** Before the next wait, so that no other call spends what a compensation may cost. */
  #reserve(known: KnownTransaction): void {
    const { epoch, trajectoryId } = known;
    const reserved = reservationsOf(known);
    if (reserved.length > 0)
      this.ports.undoBudget.add({ epoch, trajectoryId, reserved: () => reserved });
  }

  /** The logged state of a transaction. Undefined if the log has no entry of it. */
  async stateAt(epoch: number): Promise<TransactionState | undefined> {
    return (await this.#known(epoch))?.state;
  }

  /** The logged state of the transaction of an effect. Undefined if no effect has this key. */
  async stateOf(key: Hash): Promise<TransactionState | undefined> {
    const used = await this.ports.store.effectKey(key);
    return used && this.stateAt(used.epoch);
  }

  /** Resolves when everything that can be settled now is in the ledger. */
  recorded(): Promise<void> {
    return this.ports.outcomes.flush();
  }

  /**
   * Resolves when this process can advance no abandoned transaction further. Includes those of
   * processes that still run. `only`: the epoch of the one transaction to recover.
   *
   * @throws the close error, or the reason why recovery stopped
   */
  async recovered(only?: number): Promise<void> {
    if (this.#closed !== undefined) throw this.#closed;
    const left = only === undefined ? this.coordination.parked() : [only];
    await Promise.all(left.map((epoch) => this.#inspectAbandoned(epoch)));
    await Promise.all(this.#inFlight);
    this.ports.leaving.throwIfAborted();
  }

  /** Resolves when no abandoned transaction can advance further and the ledger is settled. */
  async drained(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
    await this.recorded();
  }

  /** `why`: the error for later decisions and recoveries. */
  async close(why: Error): Promise<void> {
    this.#closed = why;
    this.#stopWaiting();
    await this.drained();
    await this.coordination.close();
    this.ports.outcomes.close();
    await this.#place.release();
  }

  /**
   * Ends the lease, even with calls in flight. Nothing more is written under the lease and no tool
   * is called, because another process may own the transactions. `why`: the error for the active
   * transactions.
   */
  release(why: unknown): Promise<void> {
    this.#stopWaiting();
    this.ports.outcomes.close();
    this.coordination.abandon(leaseLost(why));
    return this.#place.release();
  }

  #stopWaiting(): void {
    this.#isClosing = true;
    for (const timer of [...this.#timers, ...this.#offers.values()]) clearTimeout(timer);
  }

  /** On an error, the transaction is quarantined and the error is reported. */
  #resume(epoch: number): void {
    const taken = this.#inspections.run((leave) => this.#resumeFromLog(epoch, leave));
    this.#track(taken.catch((error: unknown) => this.#resumeFailed(epoch, error)));
  }

  /** If another process may own the transaction, or recovery has stopped, this is not a failure. */
  #resumeFailed(epoch: number, error: unknown): void {
    if (
      this.isLeaseLost ||
      this.#isClosing ||
      (isInstance(error, EffectError) && error.code === 'lease_lost')
    )
      return;
    this.#failures.report(epoch, error);
  }

  /**
   * Advances a transaction without a body. Calls `isLookedAt` when the log has been read and a
   * step, perhaps a long one, is about to run.
   */
  async #resumeFromLog(epoch: number, isLookedAt: () => void): Promise<void> {
    if (this.#isLeaving) return this.#park(epoch, true);
    const confirmed = await this.#confirmed(epoch).catch(async (error: unknown) => {
      await this.#park(epoch, true);
      throw error;
    });
    const known = confirmed?.known;
    // A transaction without log entries had no effects. An ended one may still have to be settled
    // in the ledger.
    if (
      confirmed === undefined ||
      known === undefined ||
      (hasEnded(known) && !(await this.#isOpen(epoch)))
    ) {
      this.ports.undoBudget.drop(epoch);
      this.coordination.end(epoch, Promise.resolve());
      return;
    }
    if (nextInLog(known, this.ports).do === 'wait') return this.#finishRecovered(confirmed);
    isLookedAt();
    await this.#callersOf(known).run(() =>
      this.#isLeaving ? this.#park(epoch, true) : this.#finishRecovered(confirmed),
    );
  }

  async #finishRecovered(confirmed: ConfirmedTransaction): Promise<void> {
    const run = TransactionRun.recover(this.ports, confirmed);
    await this.finish(run);
    await run.flushed();
  }

  #callersOf({ effects }: KnownTransaction): Semaphore {
    const names = [...new Set(effects.map(({ tool }) => tool))].sort().join(' ');
    let callers = this.#resumed.get(names);
    if (callers === undefined) {
      callers = new Semaphore(RESUMED_AT_ONCE);
      this.#resumed.set(names, callers);
    }
    return callers;
  }

  async #isOpen(epoch: number): Promise<boolean> {
    const [next] = await this.ports.store.openEffects({ after: epoch - 1, limit: 1 });
    return next?.epoch === epoch;
  }

  /** The lease ends after this promise has settled, with any result. */
  #track<T>(done: Promise<T>): Promise<T> {
    const over = (): void => void this.#inFlight.delete(tracked);
    const tracked: Promise<void> = done.then(over, over);
    this.#inFlight.add(tracked);
    return done;
  }
}

/** The next step of a logged transaction that no process is running. */
export function nextInLog(
  { state, effects }: Pick<KnownTransaction, 'state' | 'effects'>,
  { tools, maxAttempts }: Pick<TransactionPorts, 'tools' | 'maxAttempts'>,
): Step {
  const together = batchesOf(effects.map(({ tool }) => tools.get(tool)?.spec));
  return nextStep(state, { ...LEFT, maxAttempts, ...(together && { batchOf: together }) });
}

/** The knowledge that a process has of a transaction from the log alone. */
const LEFT = Object.freeze({ hasBody: false, isInFlight: () => false });

function hasEnded({ state }: KnownTransaction): boolean {
  return state.phase === 'settled' || state.phase === 'aborted';
}

function leftOf(
  known: KnownTransaction,
  { blob, lastErrors }: TransactionPorts,
): Promise<UnresolvedEffect[]> {
  const { epoch, trajectoryId, state, effects } = known;
  const left = [...state.effects.entries()].filter(([, { phase }]) => isUnresolved(phase));
  return Promise.all(
    left.map(async ([n, { phase }]) => {
      const { tool, key, payload, why } = effects[n]!;
      const error = lastErrors.get(epoch, n);
      const claims =
        (await touchedBy(blob, payload)) ?? claimsOf(known).filter((claim) => !isNameClaim(claim));
      const said = { ...(why !== undefined && { why }), ...(error !== undefined && { error }) };
      return { epoch, trajectoryId, n, tool, key, phase, ...said, claims };
    }),
  );
}
