import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { isAssizeError } from '#canon';
import {
  type Claim,
  claimsOf,
  EffectError,
  isLeft,
  isNameClaim,
  type KnownTransaction,
  nextStep,
  type Resolvers,
  readTransaction,
  requireOwnTool,
  type Stale,
  type Tool,
  type TransactionBody,
  type TransactionState,
  togetherBy,
  type Work,
} from '#effects';
import type { EffectStore, Hash, SharedEffectStore } from '#ledger';
import type { Pause, Random } from '#oracle';
import { RuntimeError } from '../errors.ts';
import { Beside } from './beside.ts';
import type { Book } from './book.ts';
import { Alone, type Coordination } from './coordination.ts';
import { Doorway } from './doorway.ts';
import type { Failure, FailureAnswer } from './failure.ts';
import { InFlight } from './in-flight.ts';
import { Names } from './names.ts';
import { openTransactions } from './open-transactions.ts';
import { keptClaims, touchedBy } from './quarantine.ts';
import { Reserved } from './reserved.ts';
import { checkLeft, type EffectResolution, type ResolvedEffect } from './resolution.ts';
import { type Moved, Run, type RunPorts } from './run.ts';
import { Settling } from './settling.ts';
import { SharedWait } from './shared-wait.ts';
import { Thrown } from './thrown.ts';
import type { TimeLimit } from './time-limit.ts';

export interface EffectsOptions {
  readonly store: EffectStore;
  readonly tools: readonly Tool[];
  readonly random: Random;
  readonly pause: Pause;
  readonly callMs: number;
  readonly tries: number;
  readonly holdMs: number;
  readonly leaseMs: number;
  readonly frontier: Frontier;
  readonly resolvers: Resolvers | undefined;
  readonly blob: (hash: Hash) => Promise<string | undefined>;
  /** Where the ledger of a trajectory is written. */
  readonly bookOf: (trajectoryId: string) => Book;
  /** Proposes there what is to be committed where effects have failed; undefined where that can't be had in this process. */
  readonly answer: (failure: Failure) => Promise<FailureAnswer | undefined>;
}

/**
 * `derived`: work that conflicts acts in the order of its epochs (decisions §5.1). `none`: it acts as it comes, which loses updates:
 * only for experiments that show what the frontier is worth.
 */
export type Frontier = 'derived' | 'none';

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

/**
 * What this process has at work with tools, in all trajectories of a store: it takes over what others left, and works beside others
 * where the store can be shared, or else has it to itself.
 */
export class Effects {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly inFlight = new InFlight();
  readonly #options: EffectsOptions;
  readonly #names: Names;
  #place: SharedWait<Held> | undefined;
  /** The place as somebody has asked for it, and not only what was left. */
  #asked: SharedWait<Held> | undefined;
  /** Trajectories that were opened, of which nobody has looked yet whether something was left. */
  readonly #opened = new Set<string>();
  /** Looking for what was left, and going on with it, while that is under way. */
  #takingUp: Promise<void> | undefined;
  #reserved: Reserved = new Reserved();
  readonly #thrown = new Thrown();
  /** Transactions that have begun here and are not over. */
  readonly #attended = new Map<TimeLimit, Promise<unknown>>();
  #isClosed = false;

  /** @throws EffectError `invalid_tool` for two of one name, or that don't go together, `bad_resolver`; CopyError `other_copy` */
  constructor(options: EffectsOptions) {
    this.#options = options;
    this.#names = new Names(options.resolvers, options.callMs);
    const tools = new Map<string, Tool>();
    for (const tool of options.tools) {
      if (typeof tool?.parse !== 'function' || typeof tool.claims !== 'function')
        throw new EffectError('invalid_tool', 'What is given as a tool is none; make it with declareTool.');
      requireOwnTool(tool);
      if (tools.has(tool.name))
        throw new EffectError('invalid_tool', `Two tools are named ${tool.name}; give one of them another name.`);
      for (const other of tools.values()) requireGoTogether(tool, other);
      tools.set(tool.name, tool);
    }
    this.tools = tools;
  }

  /** Milliseconds that a body may be silent, where its transaction does not say otherwise. */
  get idleMs(): number {
    return idleOf(this.#options.holdMs);
  }

  /** What of budgets is kept for undoing what is at work here, since that was begun or taken over. */
  get reserved(): Reserved {
    return this.#reserved;
  }

  /**
   * Takes the tenure or joins the others, and takes over what is left. Whoever asks while that waits for others waits with it, as long
   * as its own signal lets it.
   *
   * @throws the signal's reason; RuntimeError `closed`; what the store throws
   */
  held(signal?: AbortSignal): Promise<Held> | Held {
    const held = this.#place?.made;
    if (held === undefined || held.isLost) return this.#hold(signal);
    this.#asked = this.#place;
    return held;
  }

  /** `isForLeft`: nobody has asked for it but what was left. */
  async #hold(signal: AbortSignal | undefined, isForLeft = false): Promise<Held> {
    for (;;) {
      while (this.#place?.isGivenUp) await this.#place.settled();
      // Or else it would be kept for good.
      if (this.#isClosed) throw closed();
      if (!this.#hasPlace) this.#place = new SharedWait((over) => this.#begin(over));
      const place = this.#place!;
      if (!isForLeft) this.#asked = place;
      const held = await place.wait(signal);
      if (!held.isLost) return held;
      await this.beginAnew(held);
    }
  }

  /** Whether it is here, or is waited for. */
  get #hasPlace(): boolean {
    return this.#place !== undefined && !this.#place.hasFailed && !this.#place.isGivenUp;
  }

  /**
   * Begins to go on with what was left at work in a trajectory, where this process has the tools for that and is not at work anyway.
   * Nobody waits for any of that but who closes. Where another one has the effects to itself, all that was left is with that one. Never
   * fails: what is in the way of it is in the way of the next transaction, which says so.
   */
  takeUpLeft(trajectoryId: string): void {
    if (this.#hasPlace || this.#isClosed || this.tools.size === 0) return;
    this.#opened.add(trajectoryId);
    this.#takingUp ??= this.#takeUpOpened();
  }

  /** One after the other, as what was left after the log was read is seen only when it is read again. */
  async #takeUpOpened(): Promise<void> {
    while (this.#opened.size > 0) {
      // What is opened at the same time is looked for together.
      await nextTurn();
      const opened = new Set(this.#opened);
      this.#opened.clear();
      if (this.#hasPlace || this.#isClosed) continue;
      const hasLeft = await this.#hasLeft(opened).catch(() => false);
      if (hasLeft && !this.#hasPlace) await this.#seeToLeft().catch(() => undefined);
    }
    this.#takingUp = undefined;
  }

  async #hasLeft(trajectoryIds: ReadonlySet<string>): Promise<boolean> {
    const [only] = trajectoryIds.size === 1 ? trajectoryIds : [];
    for await (const logged of openTransactions(this.#options.store, only))
      if (trajectoryIds.has(logged.trajectory_id) && this.#canGoOn(readTransaction(logged))) return true;
    return false;
  }

  /** Who has the store to itself for that alone holds others up no longer than it takes. A member holds nobody up, and stays one. */
  async #seeToLeft(): Promise<void> {
    const held = await this.#hold(AbortSignal.timeout(AGAIN_MS), true);
    if (isShared(this.#options.store)) return;
    await held.seenTo();
    if (this.#place?.made !== held || this.#asked === this.#place) return;
    this.#place = undefined;
    // Nothing is at work here any more: what is left is whoever's has the place next.
    this.#reserved = new Reserved();
    await held.close();
  }

  /** Without a person, and with the tools that are here. */
  #canGoOn({ state, effects }: KnownTransaction): boolean {
    const together = togetherBy(effects.map(({ tool }) => this.tools.get(tool)?.spec));
    const next = nextStep(state, { ...LEFT, tries: this.#options.tries, ...(together && { together }) });
    return next.do !== 'wait' && effects.every(({ tool }) => this.tools.has(tool));
  }

  /** What is in memory is worth nothing: whoever is next takes the tenure again, and goes on from what the log says. */
  async beginAnew(held: Held): Promise<void> {
    // Of several who find out at once, one begins anew; by now it may be another one that is held.
    if (this.#place?.made !== held) return;
    this.#place = undefined;
    await held.release();
  }

  /** When the ledger was told all that can be told now of what has ended. */
  async told(): Promise<void> {
    await this.#place?.made?.told();
  }

  /**
   * A transaction, until it is over: who closes tells it to stop by its limit, and waits for what is to be undone then, or is committed.
   * @throws RuntimeError `closed`; what `make` throws
   */
  attend<T>(limit: TimeLimit, make: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw closed();
    const made = make();
    this.#attended.set(limit, made);
    const over = (): void => {
      this.#attended.delete(limit);
      limit.end();
    };
    made.then(over, over);
    return made;
  }

  /**
   * Has transactions stop that are not committed, waits until those are undone and the others done, as far as that can be now, and gives
   * the tenure up; who waits for that waits no longer.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    const stopping = [...this.#attended.values()].map((made) => made.catch(() => undefined));
    for (const limit of this.#attended.keys()) limit.stop(closed());
    await Promise.all(stopping);
    const place = this.#place;
    this.#place = undefined;
    place?.giveUp(closed());
    await place?.settled();
    await place?.made?.close();
    await this.#takingUp;
  }

  async #begin(signal: AbortSignal): Promise<Held> {
    const { store, random, pause, callMs, tries, holdMs, blob, bookOf, answer } = this.#options;
    const place = isShared(store) ? await this.#join(store, signal) : await this.#keep(signal);
    const { coordination } = place;
    // Given up when it was there already.
    if (signal.aborted) {
      await coordination.close();
      await place.release();
      throw signal.reason;
    }
    const settling = new Settling(store, coordination.fence, bookOf);
    const reserved = new Reserved();
    const around = { random, pause, callMs, patienceMs: patienceOf(holdMs), tries, blob, answer, thrown: this.#thrown };
    const ports = { store, coordination, tools: this.tools, settling, reserved, inFlight: this.inFlight, ...around };
    // What was at work before is taken over, here or elsewhere.
    this.#reserved = reserved;
    const held = new Held(place, ports, this.#names);
    coordination.lost?.addEventListener('abort', () => void this.#joinAgain(held), { once: true });
    return held;
  }

  /** What this process had at work is gone on with, by whoever is first: also where nobody calls for it here any more. */
  async #joinAgain(lost: Held): Promise<void> {
    await this.beginAnew(lost).catch(() => undefined);
    while (!this.#isClosed && this.#place?.made === undefined) {
      await sleep(AGAIN_MS, undefined, { ref: false });
      if (this.#isClosed) return;
      const failure = await this.#hold(undefined).catch((error: unknown) => error);
      if (isAssizeError(failure, 'store_closed')) return;
    }
  }

  async #join(store: SharedEffectStore, signal: AbortSignal): Promise<Place> {
    const { leaseMs } = this.#options;
    const membership = await store.shareEffects({ leaseMs, signal });
    try {
      const coordination = await Beside.join({ membership, store, leaseMs, isOrdered: this.#isOrdered });
      return { coordination, release: () => membership.release() };
    } catch (error) {
      await membership.release();
      throw error;
    }
  }

  async #keep(signal: AbortSignal): Promise<Place> {
    const { store } = this.#options;
    const tenure = await store.holdEffects(signal);
    try {
      const open: Work[] = [];
      for await (const logged of openTransactions(store))
        open.push({ epoch: logged.epoch, claims: claimsOf(readTransaction(logged)) });
      const coordination = new Alone(tenure.fence, tenure.lastEpoch, open, this.#isOrdered);
      return { coordination, release: () => tenure.release() };
    } catch (error) {
      await tenure.release();
      throw error;
    }
  }

  get #isOrdered(): boolean {
    return this.#options.frontier === 'derived';
  }
}

/** Of what somebody may hold others up, half is for a body that is silent, and half for calls that are not answered. */
function idleOf(holdMs: number): number {
  return Math.ceil(holdMs / 2);
}

function patienceOf(holdMs: number): number {
  return Math.floor(holdMs / 2);
}

/** Either may know why it doesn't. @throws EffectError `invalid_tool` */
function requireGoTogether(tool: Tool, earlier: Tool): void {
  for (const [one, other] of [
    [tool, earlier],
    [earlier, tool],
  ] as const) {
    const problem = one.spec.problemBeside?.(other);
    if (problem === undefined) continue;
    const why = `The tool ${one.name} can't be used beside ${other.name}: ${problem}.`;
    throw new EffectError('invalid_tool', why, { evidence: { tool: one.name } });
  }
}

function closed(): RuntimeError {
  return new RuntimeError('closed', 'The runtime was closed meanwhile; open another one.');
}

/** A transaction that has its epoch. */
export interface Begun {
  readonly run: Run;
  readonly work: Work;
}

/** The right to work on effects, and who may act where. */
interface Place {
  readonly coordination: Coordination;
  release(): Promise<void>;
}

function isShared(store: EffectStore): store is SharedEffectStore {
  return typeof (store as Partial<SharedEffectStore>).shareEffects === 'function';
}

/** What a process knows of what it finds in the log. */
const LEFT = Object.freeze({ hasBody: false, isUnderWay: () => false });

/** Milliseconds after which what the store could not do is tried again. */
const AGAIN_MS = 1_000;
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
  #isClosing = false;

  constructor(place: Place, ports: RunPorts, names: Names) {
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

  /** Whether others may go on with what is at work here. */
  get isLost(): boolean {
    return this.coordination.lost?.aborted === true;
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
      if (moved !== 'ended') kept = await keptClaims(run, this.ports.blob);
      end = moved;
      if (moved === 'lacking') this.#lacking.set(run.epoch, run.length);
      // Who begins anew asks the log what became of this.
      if (run.state.phase === 'aborted') await run.settled();
    } finally {
      const settled = run.settled();
      if (settled !== undefined) this.#track(settled);
      if (end === 'ended') this.coordination.end(run.epoch, run.ended);
      // Also where the log could not be written: nobody knows what stands there until it can.
      else await this.#leave(run.epoch, end === 'later' || end === undefined, kept);
    }
    if (end === 'person') await this.ports.settling.complete(run.trajectoryId, run.left);
    return end;
  }

  /** Nobody acts where it keeps claims. `again`: it is gone on with again after a while. */
  async #leave(epoch: number, again: boolean, kept?: readonly Claim[]): Promise<void> {
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
    if (this.#isClosing) return;
    const timer = setTimeout(() => {
      this.#offers.delete(epoch);
      void this.#lookAtLeft(epoch);
    }, STILL_MS).unref();
    this.#offers.set(epoch, timer);
  }

  /** Where that fails it is left as it was. */
  #lookAtLeft(epoch: number): Promise<void> {
    const looked = this.#looks.through(() => this.#tryLeft(epoch)).catch(() => undefined);
    this.#track(looked);
    return looked;
  }

  /** Goes on with what was left without a person to wait for, unless it was tried here already, and nothing has happened since. */
  async #tryLeft(epoch: number): Promise<void> {
    const { coordination } = this;
    if (!coordination.isLeft(epoch)) return;
    const known = await this.#known(epoch);
    if (known === undefined || this.#lacking.get(epoch) === known.length) return;
    const next = this.#nextFor(known);
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
   * @throws EffectError `bad_resolution`, `needs_confirmation`, `unknown_effect`, `not_left`, `already_resolved`, `tenure_lost`
   */
  resolve(resolution: EffectResolution): Promise<ResolvedEffect> {
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
      end = await this.#carryOut(run, resolution);
      if (end === 'lacking') this.#lacking.set(epoch, run.length);
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

  /** When everything that was left was seen to, as far as this process can: also what others have left that still work. */
  async recovered(): Promise<void> {
    await Promise.all(this.coordination.left().map((epoch) => this.#lookAtLeft(epoch)));
    await Promise.all(this.#underWay);
  }

  /** When all that can be done now about what was left is done, and the ledger was told. */
  async seenTo(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    await this.told();
  }

  async close(): Promise<void> {
    this.#stopWaiting();
    await this.seenTo();
    await this.coordination.close();
    await this.release();
  }

  /** Ends the tenure, whatever is under way: nothing more is written under it. */
  release(): Promise<void> {
    this.#stopWaiting();
    return this.#place.release();
  }

  #stopWaiting(): void {
    this.#isClosing = true;
    for (const timer of [...this.#timers, ...this.#offers.values()]) clearTimeout(timer);
  }

  /** Where that fails it is quarantined, and whoever writes next meets the same store. */
  #goOn(epoch: number): void {
    this.#track(this.#looks.through((leave) => this.#takeUp(epoch, leave)).catch(() => undefined));
  }

  /** Goes on with what has no body any more. `isLookedAt`: to be called where something is to be done about it, which may take its time. */
  async #takeUp(epoch: number, isLookedAt: () => void): Promise<void> {
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
    if (this.#nextFor(known).do !== 'wait') isLookedAt();
    const run = Run.of(this.ports, known);
    await this.finish(run);
    await run.settled();
  }

  #nextFor({ state, effects }: KnownTransaction): ReturnType<typeof nextStep> {
    const together = togetherBy(effects.map(({ tool }) => this.ports.tools.get(tool)?.spec));
    return nextStep(state, { ...LEFT, tries: this.ports.tries, ...(together && { together }) });
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
