import {
  type Claim,
  claimsOf,
  EffectError,
  isLeft,
  isNameClaim,
  type KnownTransaction,
  nextStep,
  readTransaction,
  type Stale,
  type Step,
  type TransactionBody,
  type TransactionState,
  togetherBy,
  type Work,
} from '#effects';
import type { Hash } from '#ledger';
import { tenureLost } from '../../writer/tenure-lost.ts';
import type { Names } from '../coordination/canonical-names.ts';
import type { Coordination } from '../coordination/coordination.ts';
import { Doorway } from '../limits/semaphore.ts';
import { type Moved, Run, type RunPorts } from '../log/advance.ts';
import { keptClaims, touchedBy } from '../settle/quarantine.ts';
import { checkLeft, type EffectResolution, type ResolvedEffect } from './human-decision.ts';
import { RecoveryFailures } from './recovery-failures.ts';

/** An effect that needs a human decision. */
export interface LeftEffect {
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
export interface Begun {
  readonly run: Run;
  readonly work: Work;
}

/** The lease or membership of this process, with the coordination of scope claims. */
export interface Place {
  readonly coordination: Coordination;
  release(): Promise<void>;
}

/** Milliseconds before a failed store operation is retried. */
export const AGAIN_MS = 1_000;
/**
 * Milliseconds that an abandoned transaction must stay unchanged before this process adopts it. A
 * process that retries its own transaction does so sooner.
 */
const STILL_MS = 3 * AGAIN_MS;

/**
 * Maximum number of transactions that are read from the log at the same time to find their next
 * step.
 */
const LOOKED_AT = 100;

/** The transactions that run under one lease or membership. */
export class Held {
  readonly ports: RunPorts;
  readonly names: Names;
  readonly #place: Place;
  /** Decisions in progress, by the epoch of their transaction. */
  readonly #resolving = new Map<number, Promise<void>>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #looks = new Doorway(LOOKED_AT);
  /** Timers of transactions that wait for a retry after a store error. */
  readonly #timers = new Set<NodeJS.Timeout>();
  /** Timers of transactions that other processes abandoned, by epoch. */
  readonly #offers = new Map<number, NodeJS.Timeout>();
  /**
   * The log length of each transaction that lacked something in this process, by epoch. At the same
   * length a retry would lack it again.
   */
  readonly #lacking = new Map<number, number>();
  readonly #failures: RecoveryFailures;
  #isClosing = false;
  /** The error for calls after close. */
  #closed: Error | undefined;

  constructor(
    place: Place,
    ports: RunPorts,
    names: Names,
    onRecoveryFailed?: ConstructorParameters<typeof RecoveryFailures>[0],
  ) {
    this.#failures = new RecoveryFailures(onRecoveryFailed);
    this.#place = place;
    this.ports = ports;
    this.names = names;
    place.coordination.takeUp(
      (epoch) => this.#goOn(epoch),
      (epoch) => this.#offered(epoch),
    );
  }

  get coordination(): Coordination {
    return this.ports.coordination;
  }

  /** Whether unresolved transactions now belong to the next process. */
  get #isLeaving(): boolean {
    return this.ports.leaving.aborted;
  }

  /** Whether the lease is lost, so that another process may resume these transactions. */
  get isLost(): boolean {
    return this.coordination.lost.aborted;
  }

  /** `isNamed`: whether the caller chose the name, so that the name can be used again. */
  begin(
    trajectoryId: string,
    claims: readonly Claim[],
    body: TransactionBody,
    isNamed: boolean,
  ): Promise<Begun> | Begun {
    const begun = (work: Work): Begun => ({
      work,
      run: new Run(this.ports, work.epoch, trajectoryId, body, isNamed),
    });
    const work = this.coordination.begin(claims);
    return work instanceof Promise ? work.then(begun) : begun(work);
  }

  /** Claims more scopes. @throws EffectError `resource_in_doubt`, `tenure_lost` */
  async expand(run: Run, work: Work, claims: readonly Claim[]): Promise<Stale | undefined> {
    this.checkDoubts(claims);
    const stale = await this.coordination.expand(work, claims);
    if (stale === undefined) run.expanded(claims);
    return stale;
  }

  /** @throws EffectError `resource_in_doubt` if an unresolved effect blocks one of the scopes */
  checkDoubts(claims: readonly Claim[]): void {
    for (const claim of claims) {
      const epoch = this.coordination.doubtAt(claim);
      if (epoch === undefined) continue;
      throw new EffectError(
        'resource_in_doubt',
        isNameClaim(claim)
          ? `An earlier attempt of that name, transaction ${epoch}, waits for a person; see to that first (assize effects list).`
          : `Something that transaction ${epoch} did meets ${claim.scope.text}, and waits for a person; see to that first (assize effects list).`,
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
  enter(work: Work, claims: readonly Claim[] = work.claims, signal?: AbortSignal): Promise<void> | undefined {
    const clear = this.coordination.enter(work, claims, signal);
    if (clear !== undefined) return clear.then(() => this.checkDoubts(claims));
    this.checkDoubts(claims);
    return undefined;
  }

  /**
   * Advances a transaction after its body has returned; with a `cause`, aborts it. Releases its
   * claims before it returns, except quarantined ones. `later`: the engine retries the transaction
   * automatically.
   */
  finish(run: Run, cause?: string): Promise<Moved> {
    const finished = this.#finish(run, cause);
    this.#track(finished);
    return finished;
  }

  async #finish(run: Run, cause: string | undefined): Promise<Moved> {
    let end: Moved | undefined;
    let kept: readonly Claim[] | undefined;
    try {
      if (cause !== undefined) await run.abort(cause);
      const moved = await run.move(false);
      if (moved !== 'ended') {
        // The next owner reads the log back. An unlogged call would run again or be in doubt.
        await run.settled();
        run.check();
        kept = await keptClaims(run, this.ports.blob);
      }
      // Runs while this process owns the transaction. Later, an effect that another process has
      // resolved could be recorded as unresolved again.
      if (moved === 'person') await this.ports.settling.complete(run.trajectoryId, run.left);
      end = moved;
      this.#noteLack(run, moved);
      // A new attempt reads the outcome of this one from the log.
      if (run.state.phase === 'aborted') await run.settled();
    } finally {
      const settled = run.settled();
      if (settled !== undefined) this.#track(settled);
      if (end === 'ended') this.coordination.end(run.epoch, run.ended);
      // Also applies if the log write failed: the log's content is unknown until it can be written.
      else await this.#leave(run.epoch, end === 'later' || end === undefined, kept);
    }
    return end;
  }

  #noteLack({ epoch, length }: Run, end: Moved): void {
    if (end === 'lacking') this.#lacking.set(epoch, length);
    else this.#lacking.delete(epoch);
  }

  /** The kept claims stay blocked. `again`: the engine retries the transaction after a while. */
  async #leave(epoch: number, again: boolean, kept?: readonly Claim[]): Promise<void> {
    // The next owner of the lease resumes this transaction with all others. Without this check,
    // other processes would see an unresolved effect first.
    if (again && this.#isLeaving) return;
    if (again && !this.#isClosing) {
      const timer = setTimeout(() => void this.#again(epoch, timer), AGAIN_MS).unref();
      this.#timers.add(timer);
    }
    await this.coordination.leave(epoch, kept);
  }

  async #again(epoch: number, timer: NodeJS.Timeout): Promise<void> {
    this.#timers.delete(timer);
    const isMine = await this.coordination.own(epoch).catch(() => false);
    if (isMine) this.#goOn(epoch);
  }

  /**
   * Another process abandoned the transaction, perhaps because it lacks a tool that this process
   * has.
   */
  #offered(epoch: number): void {
    clearTimeout(this.#offers.get(epoch));
    if (this.#isClosing || this.#isLeaving) return;
    const timer = setTimeout(() => {
      this.#offers.delete(epoch);
      void this.#lookAtLeft(epoch);
    }, STILL_MS).unref();
    this.#offers.set(epoch, timer);
  }

  /** On an error, the transaction stays unresolved and the error is reported. */
  #lookAtLeft(epoch: number): Promise<void> {
    const looked = this.#looks
      .through(() => this.#tryLeft(epoch))
      .catch((error: unknown) => this.#notGoneOn(epoch, error));
    this.#track(looked);
    return looked;
  }

  /**
   * Resumes an abandoned transaction that needs no human decision. Skips it if nothing changed
   * since the last attempt in this process.
   */
  async #tryLeft(epoch: number): Promise<void> {
    const { coordination } = this;
    if (this.#isLeaving || !coordination.isLeft(epoch)) return;
    const known = await this.#known(epoch);
    if (known === undefined || this.#lacking.get(epoch) === known.length) return;
    const next = nextInLog(known, this.ports);
    if (next.do === 'wait' || next.do === 'nothing') return;
    if (await coordination.own(epoch)) this.#goOn(epoch);
  }

  /** Ends a transaction without entries in the log. */
  drop({ epoch }: Work): void {
    this.ports.reserved.drop(epoch);
    this.coordination.end(epoch, Promise.resolve());
  }

  /** The effects that need a human decision, of all processes. */
  async left(): Promise<LeftEffect[]> {
    const all = this.coordination.left().map((epoch) =>
      this.#looks.through(async () => {
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
   * @throws EffectError `bad_resolution`, `needs_confirmation`, `unknown_effect`, `not_left`,
   * `already_resolved`, `tenure_lost`; the close error, or the reason why recovery stopped, with
   * nothing recorded
   */
  async resolve(resolution: EffectResolution): Promise<ResolvedEffect> {
    // No caller would wait for the result.
    if (this.#closed !== undefined) throw this.#closed;
    const { epoch } = resolution;
    const made = (this.#resolving.get(epoch) ?? Promise.resolve()).then(() => this.#resolve(resolution));
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

  async #resolve(resolution: EffectResolution): Promise<ResolvedEffect> {
    const { epoch } = resolution;
    const { coordination } = this;
    this.ports.leaving.throwIfAborted();
    checkLeft(resolution, await this.#known(epoch), coordination.isLeft(epoch));
    // Another process may have adopted the transaction first, and is advancing it.
    if (!(await coordination.own(epoch))) checkLeft(resolution, await this.#known(epoch), false);
    let end: Moved = 'person';
    let run: Run | undefined;
    let kept: readonly Claim[] | undefined;
    try {
      // Reads from the log, because memory can be ahead of a log that could not be written.
      const known = await this.#known(epoch);
      checkLeft(resolution, known, true);
      run = Run.of(this.ports, known as KnownTransaction);
      // If a log write fails from here on, the decision may already be in the log. The engine must
      // then retry the remaining steps.
      end = 'later';
      end = await this.#carryOut(run, resolution);
      this.#noteLack(run, end);
      if (end !== 'ended') kept = await keptClaims(run, this.ports.blob);
    } finally {
      if (end === 'ended') coordination.end(epoch, run!.ended);
      else await this.#leave(epoch, end === 'later', kept);
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
      left: run.state.effects.filter(({ phase }) => isLeft(phase)).length,
    };
  }

  async #carryOut(run: Run, { n, as, by, evidence }: EffectResolution): Promise<Moved> {
    await run.resolve(n, as, by, evidence);
    const end = await run.move(false);
    await run.settled();
    if (end !== 'ended') run.check();
    // The operator sees the result in the next read.
    await this.ports.settling.flush();
    return end;
  }

  async #known(epoch: number): Promise<KnownTransaction | undefined> {
    const logged = await this.ports.store.effectsOf(epoch);
    return logged && readTransaction(logged);
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
  told(): Promise<void> {
    return this.ports.settling.flush();
  }

  /**
   * Resolves when all abandoned transactions have advanced as far as this process can take them.
   * Includes those of processes that still run. `only`: the epoch of the one transaction to
   * recover.
   *
   * @throws the close error, or the reason why recovery stopped
   */
  async recovered(only?: number): Promise<void> {
    if (this.#closed !== undefined) throw this.#closed;
    const left = only === undefined ? this.coordination.left() : [only];
    await Promise.all(left.map((epoch) => this.#lookAtLeft(epoch)));
    await Promise.all(this.#underWay);
    this.ports.leaving.throwIfAborted();
  }

  /**
   * Resolves when abandoned transactions have advanced as far as possible and the ledger is
   * settled.
   */
  async seenTo(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    await this.told();
  }

  /** `why`: the error for later decisions and recoveries. */
  async close(why: Error): Promise<void> {
    this.#closed = why;
    this.#stopWaiting();
    await this.seenTo();
    await this.coordination.close();
    this.ports.settling.end();
    await this.#place.release();
  }

  /**
   * Ends the lease, even with calls in flight. Nothing more is written under the lease and no tool
   * is called, because another process may own the transactions. `why`: the error for the active
   * transactions.
   */
  release(why: unknown): Promise<void> {
    this.#stopWaiting();
    this.ports.settling.end();
    this.coordination.giveUp(tenureLost(why));
    return this.#place.release();
  }

  #stopWaiting(): void {
    this.#isClosing = true;
    for (const timer of [...this.#timers, ...this.#offers.values()]) clearTimeout(timer);
  }

  /** On an error, the transaction is quarantined and the error is reported. */
  #goOn(epoch: number): void {
    const taken = this.#looks.through((leave) => this.#takeUp(epoch, leave));
    this.#track(taken.catch((error: unknown) => this.#notGoneOn(epoch, error)));
  }

  /** If another process may own the transaction, or recovery has stopped, this is not a failure. */
  #notGoneOn(epoch: number, error: unknown): void {
    if (this.isLost || this.#isClosing || (error instanceof EffectError && error.code === 'tenure_lost')) return;
    this.#failures.tell(epoch, error);
  }

  /**
   * Advances a transaction without a body. Calls `isLookedAt` when the log has been read and a
   * step, which can take long, is about to run.
   */
  async #takeUp(epoch: number, isLookedAt: () => void): Promise<void> {
    if (this.#isLeaving) return this.#leave(epoch, true);
    const known = await this.#known(epoch).catch(async (error: unknown) => {
      await this.#leave(epoch, true);
      throw error;
    });
    // A transaction without log entries had no effects. An ended one may still have to be settled
    // in the ledger.
    if (known === undefined || (hasEnded(known) && !(await this.#isOpen(epoch)))) {
      this.ports.reserved.drop(epoch);
      this.coordination.end(epoch, Promise.resolve());
      return;
    }
    if (nextInLog(known, this.ports).do !== 'wait') isLookedAt();
    const run = Run.of(this.ports, known);
    await this.finish(run);
    await run.settled();
  }

  async #isOpen(epoch: number): Promise<boolean> {
    const [next] = await this.ports.store.openEffects({ after: epoch - 1, limit: 1 });
    return next?.epoch === epoch;
  }

  /** The lease ends after this promise has settled, with any result. */
  #track(done: Promise<unknown>): void {
    const over = (): void => void this.#underWay.delete(tracked);
    const tracked: Promise<void> = done.then(over, over);
    this.#underWay.add(tracked);
  }
}

/** The next step of a logged transaction that no process is running. */
export function nextInLog(
  { state, effects }: Pick<KnownTransaction, 'state' | 'effects'>,
  { tools, tries }: Pick<RunPorts, 'tools' | 'tries'>,
): Step {
  const together = togetherBy(effects.map(({ tool }) => tools.get(tool)?.spec));
  return nextStep(state, { ...LEFT, tries, ...(together && { together }) });
}

/** The knowledge that a process has of a transaction from the log alone. */
const LEFT = Object.freeze({ hasBody: false, isUnderWay: () => false });

function hasEnded({ state }: KnownTransaction): boolean {
  return state.phase === 'settled' || state.phase === 'aborted';
}

function leftOf(known: KnownTransaction, { blob, thrown }: RunPorts): Promise<LeftEffect[]> {
  const { epoch, trajectoryId, state, effects } = known;
  const left = [...state.effects.entries()].filter(([, { phase }]) => isLeft(phase));
  return Promise.all(
    left.map(async ([n, { phase }]) => {
      const { tool, key, payload, why } = effects[n]!;
      const error = thrown.of(epoch, n);
      const claims = (await touchedBy(blob, payload)) ?? claimsOf(known).filter((claim) => !isNameClaim(claim));
      const said = { ...(why !== undefined && { why }), ...(error !== undefined && { error }) };
      return { epoch, trajectoryId, n, tool, key, phase, ...said, claims };
    }),
  );
}
