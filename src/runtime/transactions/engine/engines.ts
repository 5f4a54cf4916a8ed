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
import type { EffectStore, Hash, SharedEffectStore } from '#ledger';
import type { Pause, Random } from '#oracle';
import { RuntimeError } from '../../errors.ts';
import { Names } from '../coordination/canonical-names.ts';
import { Alone } from '../coordination/coordination.ts';
import { openTransactions } from '../coordination/read-open.ts';
import { Beside } from '../coordination/shared-coordinator.ts';
import { InFlight } from '../limits/in-flight.ts';
import { SharedWait } from '../limits/shared-wait.ts';
import type { TimeLimit } from '../limits/time-limit.ts';
import { Thrown } from '../log/last-errors.ts';
import { Reserved } from '../log/undo-budget.ts';
import type { Book } from '../settle/ledger-writer.ts';
import type { Failure, FailureAnswer } from '../settle/on-failure.ts';
import { Settling } from '../settle/settle.ts';
import { AGAIN_MS, Held, nextInLog, type Place } from './engine.ts';

/**
 * How long an opening waits for the effects, to go on with what was left: who has them for good goes on with it itself, and who has them for
 * a moment is gone before. Not shorter, as that is time on the wall: on a machine that stands still meanwhile nobody would go on with it.
 */
const LEFT_MS = 10_000;

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
  readonly onRecoveryFailed?: ((error: RuntimeError) => void) | undefined;
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
  /** Transactions that begin here and are not over, and when each is. */
  readonly #attended = new Map<TimeLimit, Promise<void>>();
  /** Aborted when what earlier processes have left is gone on with no further here. */
  readonly #leaving = new AbortController();
  #isClosed = false;
  #closing: Promise<void> | undefined;

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
      if (this.#isClosed) return inATurn(closed());
      if (!this.#hasPlace) this.#place = new SharedWait((over) => this.#begin(over));
      const place = this.#place!;
      if (!isForLeft) this.#asked = place;
      const held = await place.wait(signal);
      if (!held.isLost) return held;
      await this.beginAnew(held, held.coordination.lost.reason);
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
    const held = await this.#hold(AbortSignal.timeout(LEFT_MS), true);
    if (isShared(this.#options.store)) return;
    await held.seenTo();
    if (this.#place?.made !== held || this.#asked === this.#place) return;
    this.#place = undefined;
    // Nothing is at work here any more: what is left is whoever's has the place next.
    this.#reserved = new Reserved();
    await held.close(closed());
  }

  /** Without a person, and with the tools that are here. */
  #canGoOn(known: KnownTransaction): boolean {
    const next = nextInLog(known, { tools: this.tools, tries: this.#options.tries });
    return next.do !== 'wait' && known.effects.every(({ tool }) => this.tools.has(tool));
  }

  /**
   * What is in memory is worth nothing: whoever is next takes the tenure again, and goes on from what the log says. `why`: what is found out,
   * for those who are at work under it.
   */
  async beginAnew(held: Held, why: unknown): Promise<void> {
    // Of several who find out at once, one begins anew; by now it may be another one that is held.
    if (this.#place?.made !== held) return;
    this.#place = undefined;
    await held.release(why);
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
    if (this.#isClosed) {
      // Or it would stand at the caller's signal for good.
      limit.end();
      throw closed();
    }
    const { promise: isOver, resolve } = Promise.withResolvers<void>();
    const over = (): void => {
      this.#attended.delete(limit);
      limit.end();
      resolve();
    };
    // Before it begins, which may be with a body, and that may close.
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
   * Has transactions stop that are not committed, waits until those are undone and the others done, as far as that can be now, and gives
   * the tenure up; who waits for that waits no longer. What earlier processes have left is not waited for where it is not to be recovered:
   * it is gone on with to the end of the step that it is at, and then left again.
   */
  close(recover = true): Promise<void> {
    this.#isClosed = true;
    if (!recover) this.#leaving.abort(closed());
    // Who closes once more has no less to wait for; where that failed, they go on with what is left of it.
    this.#closing ??= this.#close().finally(() => {
      this.#closing = undefined;
    });
    return this.#closing;
  }

  async #close(): Promise<void> {
    const stopping = [...this.#attended.values()];
    for (const limit of this.#attended.keys()) limit.stop(closed());
    await Promise.all(stopping);
    const place = this.#place;
    this.#place = undefined;
    place?.giveUp(closed());
    await place?.settled();
    await place?.made?.close(closed());
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
    const { tools, inFlight } = this;
    const { signal: leaving } = this.#leaving;
    const ports = { store, coordination, tools, settling, reserved, inFlight, leaving, ...around };
    // What was at work before is taken over, here or elsewhere.
    this.#reserved = reserved;
    const held = new Held(place, ports, this.#names, this.#options.onRecoveryFailed);
    coordination.lost.addEventListener('abort', () => void this.#joinAgain(held), { once: true });
    return held;
  }

  /** What this process had at work is gone on with, by whoever is first: also where nobody calls for it here any more. */
  async #joinAgain(lost: Held): Promise<void> {
    await this.beginAnew(lost, lost.coordination.lost.reason).catch(() => undefined);
    while (!this.#isClosed && this.#place?.made === undefined) {
      await sleep(AGAIN_MS, undefined, { ref: false });
      if (this.#isClosed) return;
      const goingOn = isShared(this.#options.store) ? this.#hold(undefined) : this.#seeToLeft();
      const failure = await goingOn.then(
        () => undefined,
        (error: unknown) => error,
      );
      // Who has the store to itself for so long has all that was left.
      const isElsewhere = failure instanceof DOMException;
      if (failure === undefined || isElsewhere || isAssizeError(failure, 'store_closed')) return;
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

/**
 * Throws it, and where it is that all is over, in a turn of the loop of its own: whoever asks again at once, for as long as that is thrown,
 * would let nothing else come.
 */
export async function inATurn(error: unknown): Promise<never> {
  if (isAssizeError(error, 'closed')) await nextTurn();
  throw error;
}

function isShared(store: EffectStore): store is SharedEffectStore {
  return typeof (store as Partial<SharedEffectStore>).shareEffects === 'function';
}
