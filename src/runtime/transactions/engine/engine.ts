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

/** An effect that waits for a person. */
export interface LeftEffect {
  readonly epoch: number;
  readonly trajectoryId: string;
  /** Its place in the transaction. */
  readonly n: number;
  readonly tool: string;
  readonly key: Hash;
  readonly phase: string;
  /** Why it waits, as a word that its tool has for it (`NoAnswer`), where it has one. */
  readonly why?: string;
  /** What its last call threw, where this process has made that: its text may say anything, so it stands in no log. */
  readonly error?: unknown;
  /** What it touches, or, where that was erased, all that its transaction may have: nobody acts there before it is resolved. */
  readonly claims: readonly Claim[];
}

/** A transaction that has its epoch. */
export interface Begun {
  readonly run: Run;
  readonly work: Work;
}

/** The right to work on effects, and who may act where. */
export interface Place {
  readonly coordination: Coordination;
  release(): Promise<void>;
}

/** Milliseconds after which what the store could not do is tried again. */
export const AGAIN_MS = 1_000;
/** As long has to be still what another process has left: if that one tries again by itself, it does so sooner. */
const STILL_MS = 3 * AGAIN_MS;

/** Transactions of which is in memory what the log has of them, while nothing is done about them but to find out that they wait. */
const LOOKED_AT = 100;

/** What is at work under one tenure or membership. */
export class Held {
  readonly ports: RunPorts;
  readonly names: Names;
  readonly #place: Place;
  /** Decisions that are being carried out, by the epoch of their transaction. */
  readonly #resolving = new Map<number, Promise<void>>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #looks = new Doorway(LOOKED_AT);
  /** Of what could not be gone on with, for the store. */
  readonly #timers = new Set<NodeJS.Timeout>();
  /** Of what others have left, by epoch. */
  readonly #offers = new Map<number, NodeJS.Timeout>();
  /** What something lacked here, by its epoch: how far its log was then. Before that goes on, nothing has changed. */
  readonly #lacking = new Map<number, number>();
  readonly #failures: RecoveryFailures;
  #isClosing = false;
  /** Why nothing is taken up or decided any more, once it is closed. */
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

  /** Whether what was left is for another process by now. */
  get #isLeaving(): boolean {
    return this.ports.leaving.aborted;
  }

  /** Whether others may go on with what is at work here. */
  get isLost(): boolean {
    return this.coordination.lost.aborted;
  }

  /** `isNamed`: whether its name is the caller's own, so that it may come again. */
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

  /** Claims more. @throws EffectError `resource_in_doubt`, `tenure_lost` */
  async expand(run: Run, work: Work, claims: readonly Claim[]): Promise<Stale | undefined> {
    this.checkDoubts(claims);
    const stale = await this.coordination.expand(work, claims);
    if (stale === undefined) run.expanded(claims);
    return stale;
  }

  /** @throws EffectError `resource_in_doubt` where something waits for a person */
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
   * Settles when the work may act by these claims, by default by all that it has; from then on it is taken for acting there. Undefined
   * where it need not wait.
   * @throws EffectError `resource_in_doubt` where who was older has left something for a person; the signal's reason
   */
  enter(work: Work, claims: readonly Claim[] = work.claims, signal?: AbortSignal): Promise<void> | undefined {
    const clear = this.coordination.enter(work, claims, signal);
    if (clear !== undefined) return clear.then(() => this.checkDoubts(claims));
    this.checkDoubts(claims);
    return undefined;
  }

  /**
   * Does what is left to do about a transaction that has no body any more; with a `cause`, undoes it. What it claimed is free when
   * this returns, but for what is quarantined because a person has to look. `later`: it is gone on with by itself.
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
        // Whoever has it next reads it back: what is not in the log would be done once more, or be in doubt.
        await run.settled();
        run.check();
        kept = await keptClaims(run, this.ports.blob);
      }
      // While it is had here: what a person has decided on by then, in whichever process, would be put up once more.
      if (moved === 'person') await this.ports.settling.complete(run.trajectoryId, run.left);
      end = moved;
      this.#noteLack(run, moved);
      // Who begins anew asks the log what became of this.
      if (run.state.phase === 'aborted') await run.settled();
    } finally {
      const settled = run.settled();
      if (settled !== undefined) this.#track(settled);
      if (end === 'ended') this.coordination.end(run.epoch, run.ended);
      // Also where the log could not be written: nobody knows what stands there until it can.
      else await this.#leave(run.epoch, end === 'later' || end === undefined, kept);
    }
    return end;
  }

  #noteLack({ epoch, length }: Run, end: Moved): void {
    if (end === 'lacking') this.#lacking.set(epoch, length);
    else this.#lacking.delete(epoch);
  }

  /** Nobody acts where it keeps claims. `again`: it is gone on with again after a while. */
  async #leave(epoch: number, again: boolean, kept?: readonly Claim[]): Promise<void> {
    // It goes to whoever is next with all else that is at work here: were it left, others would hear that a person is to look at it first.
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

  /** Another process has left it, perhaps for want of what there is here. */
  #offered(epoch: number): void {
    clearTimeout(this.#offers.get(epoch));
    if (this.#isClosing || this.#isLeaving) return;
    const timer = setTimeout(() => {
      this.#offers.delete(epoch);
      void this.#lookAtLeft(epoch);
    }, STILL_MS).unref();
    this.#offers.set(epoch, timer);
  }

  /** Where that fails it is left as it was, and told. */
  #lookAtLeft(epoch: number): Promise<void> {
    const looked = this.#looks
      .through(() => this.#tryLeft(epoch))
      .catch((error: unknown) => this.#notGoneOn(epoch, error));
    this.#track(looked);
    return looked;
  }

  /** Goes on with what was left without a person to wait for, unless it was tried here already, and nothing has happened since. */
  async #tryLeft(epoch: number): Promise<void> {
    const { coordination } = this;
    if (this.#isLeaving || !coordination.isLeft(epoch)) return;
    const known = await this.#known(epoch);
    if (known === undefined || this.#lacking.get(epoch) === known.length) return;
    const next = nextInLog(known, this.ports);
    if (next.do === 'wait' || next.do === 'nothing') return;
    if (await coordination.own(epoch)) this.#goOn(epoch);
  }

  /** A transaction of which nothing is in the log. */
  drop({ epoch }: Work): void {
    this.ports.reserved.drop(epoch);
    this.coordination.end(epoch, Promise.resolve());
  }

  /** Effects that wait for a person, whoever had them. */
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
   * Takes down what a person decided, and goes on with the transaction. What it kept is free as far as nothing of it is left there.
   * Those about one transaction are one after the other.
   *
   * @throws EffectError `bad_resolution`, `needs_confirmation`, `unknown_effect`, `not_left`, `already_resolved`, `tenure_lost`; why it was closed, or
   * what was left is gone on with no further, with nothing taken down
   */
  async resolve(resolution: EffectResolution): Promise<ResolvedEffect> {
    // Nobody would wait for it.
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
    // Another process may have been faster, and is at it then.
    if (!(await coordination.own(epoch))) checkLeft(resolution, await this.#known(epoch), false);
    let end: Moved = 'person';
    let run: Run | undefined;
    let kept: readonly Claim[] | undefined;
    try {
      // Read back, and not what is in memory: that may be ahead of a log that could not be written.
      const known = await this.#known(epoch);
      checkLeft(resolution, known, true);
      run = Run.of(this.ports, known as KnownTransaction);
      // Where the log can't be written from here on, the decision may stand in it, and nobody asks for the rest of it again.
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
    // Who decides and looks again sees where it led.
    await this.ports.settling.flush();
    return end;
  }

  async #known(epoch: number): Promise<KnownTransaction | undefined> {
    const logged = await this.ports.store.effectsOf(epoch);
    return logged && readTransaction(logged);
  }

  /** What the log has of a transaction; undefined where it has nothing. */
  async stateAt(epoch: number): Promise<TransactionState | undefined> {
    return (await this.#known(epoch))?.state;
  }

  /** Where the log has the transaction of an effect; undefined where no key leads there. */
  async stateOf(key: Hash): Promise<TransactionState | undefined> {
    const used = await this.ports.store.effectKey(key);
    return used && this.stateAt(used.epoch);
  }

  /** When the ledger was told all that can be told now. */
  told(): Promise<void> {
    return this.ports.settling.flush();
  }

  /**
   * When everything that was left was seen to, as far as this process can: also what others have left that still work. `only`: of those
   * that wait, who may be many, that one alone.
   *
   * @throws why it was closed, or is gone on with no further
   */
  async recovered(only?: number): Promise<void> {
    if (this.#closed !== undefined) throw this.#closed;
    const left = only === undefined ? this.coordination.left() : [only];
    await Promise.all(left.map((epoch) => this.#lookAtLeft(epoch)));
    await Promise.all(this.#underWay);
    this.ports.leaving.throwIfAborted();
  }

  /** When all that can be done now about what was left is done, and the ledger was told. */
  async seenTo(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    await this.told();
  }

  /** `why`: told to who would decide something, or take it up, from now on. */
  async close(why: Error): Promise<void> {
    this.#closed = why;
    this.#stopWaiting();
    await this.seenTo();
    await this.coordination.close();
    this.ports.settling.end();
    await this.#place.release();
  }

  /** Ends the tenure, whatever is under way: nothing more is written under it, and no tool is called, as somebody else may be at it then. `why`: told to who is at work. */
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

  /** Where that fails it is quarantined, and told. */
  #goOn(epoch: number): void {
    const taken = this.#looks.through((leave) => this.#takeUp(epoch, leave));
    this.#track(taken.catch((error: unknown) => this.#notGoneOn(epoch, error)));
  }

  /** Where others may have it by now, or nothing is to be gone on with any more, nothing has failed. */
  #notGoneOn(epoch: number, error: unknown): void {
    if (this.isLost || this.#isClosing || (error instanceof EffectError && error.code === 'tenure_lost')) return;
    this.#failures.tell(epoch, error);
  }

  /** Goes on with what has no body any more. `isLookedAt`: to be called where something is to be done about it, which may take its time. */
  async #takeUp(epoch: number, isLookedAt: () => void): Promise<void> {
    if (this.#isLeaving) return this.#leave(epoch, true);
    const known = await this.#known(epoch).catch(async (error: unknown) => {
      await this.#leave(epoch, true);
      throw error;
    });
    // Of what has nothing in the log, nothing was done; and of what has ended the ledger has yet to be told, or nothing.
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

  /** Is waited for before the tenure ends, whatever comes of it. */
  #track(done: Promise<unknown>): void {
    const over = (): void => void this.#underWay.delete(tracked);
    const tracked: Promise<void> = done.then(over, over);
    this.#underWay.add(tracked);
  }
}

/** What is next about what is found in the log, where nobody else knows more of it. */
export function nextInLog(
  { state, effects }: Pick<KnownTransaction, 'state' | 'effects'>,
  { tools, tries }: Pick<RunPorts, 'tools' | 'tries'>,
): Step {
  const together = togetherBy(effects.map(({ tool }) => tools.get(tool)?.spec));
  return nextStep(state, { ...LEFT, tries, ...(together && { together }) });
}

/** What a process knows of what it finds in the log. */
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
