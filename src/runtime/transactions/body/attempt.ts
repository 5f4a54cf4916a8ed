import type { Json } from '#base';
import { type Claim, EffectError, type HeldCall, type Tool, type Work } from '#effects';
import type { Authority } from '#kernel';
import type { BlobRow, Hash } from '#ledger';
import type { Held } from '../engine/engine.ts';
import type { TimeLimit } from '../limits/time-limit.ts';
import type { Run } from '../log/advance.ts';
import { Holdings } from '../log/staged-writes.ts';
import { Claims } from './claims.ts';
import { CallKeys } from './idempotency-keys.ts';

/** The settings that every call consults. */
export interface Asking {
  readonly trajectoryId: string;
  /** The first entry of the trajectory. */
  readonly root: Hash;
  /** The caller's name of the transaction, or a generated one. */
  readonly name: string;
  /** Whether earlier attempts may have used the name, because the caller chose it. */
  readonly isAgain: boolean;
  /**
   * Whether earlier attempts may have used the keys of buffered calls. Mostly they have not, and
   * the commit would report a collision.
   */
  readonly isCareful: boolean;
  /** Whether reads do not wait for older writers and are validated at the gate. */
  readonly isOptimistic: boolean;
  /** All scopes claimed so far, for a restart. */
  readonly claimed: Claim[];
  readonly authority: () => Authority;
  /** The blobs of the writ that no ledger entry has stored yet. */
  readonly unstored: () => readonly BlobRow[];
  /** The kinds of counselors that the domain declares. */
  readonly counselors: readonly string[];
  readonly signal: AbortSignal;
  /** The limit that owns the signal. It is notified of each activity of the body. */
  readonly limit: TimeLimit;
}

/**
 * Maximum number of effect calls of one transaction, including branches and calls that did nothing.
 * One ledger entry lists the compensated calls and must have room for all. Without the limit, a
 * transaction might never end.
 */
export const CALLS_MAX = 2_048;

/**
 * The turn of a call that executes immediately: the call before it (undefined if none), and the
 * callback for its end.
 */
interface Turn {
  readonly before: Promise<void> | undefined;
  readonly over: () => void;
}

/** One attempt of a transaction, with its own epoch: the state that all its branches share. */
export class Attempt {
  readonly held: Held;
  readonly asking: Asking;
  readonly claims: Claims;
  readonly keys: CallKeys;
  /** @experimental Staged SQL may change in any release. */
  readonly holdings = new Holdings();
  #run: Run | undefined;
  #last: Promise<void> | undefined;
  #calls = 0;

  /** Without a run, the attempt receives its run and epoch by `attach`. */
  constructor(held: Held, run: Run | undefined, work: Work, asking: Asking) {
    this.held = held;
    this.#run = run;
    this.claims = new Claims(held, run, work, asking);
    this.asking = asking;
    this.keys = new CallKeys(held.ports.store, asking);
  }

  /** Called when the epoch is assigned and the claims are registered. */
  attach(run: Run, work: Work): void {
    this.#run = run;
    this.claims.attach(run, work);
  }

  get run(): Run | undefined {
    return this.#run;
  }

  /** The epoch of the attempt. A late transaction receives it at its gate; it is 0 until then. */
  get epoch(): number {
    return this.#run?.epoch ?? 0;
  }

  /** Counts one more effect call. @throws EffectError `too_much` */
  count({ name }: Tool): void {
    if (this.#calls >= CALLS_MAX)
      throw new EffectError(
        'too_much',
        `${name} was not called: a transaction changes something by ${CALLS_MAX} calls at most, also by those that did nothing; do the rest in another one.`,
        { evidence: { tool: name, max: CALLS_MAX } },
      );
    this.#calls++;
  }

  checkNames(tool: Tool, input: Json, claims: readonly Claim[]): Promise<void> {
    return this.held.names.checkStill(tool, input, claims, this.asking.signal);
  }

  /** An executing tool has its own limit (`Patience`) and does not count as an idle body. */
  async whileActing<T>(act: () => Promise<T>): Promise<T> {
    const { limit } = this.asking;
    limit.waits();
    try {
      return await act();
    } finally {
      limit.goesOn();
    }
  }

  /**
   * Repeats the branch's staged writes that yielded to an effect or its compensation.
   *
   * @experimental Staged SQL may change in any release.
   * @throws EffectError `stale`
   */
  heldAgain(branch: { heldAt(at: object): readonly HeldCall[] }): Promise<void> {
    const { signal } = this.asking;
    return this.whileActing(() => this.holdings.again((at) => branch.heldAt(at), { signal, epoch: this.epoch }));
  }

  /**
   * The last call in the queue of calls that execute immediately, which run in order; each plan
   * sees the earlier ones. Undefined if the queue is empty.
   */
  get last(): Promise<void> | undefined {
    return this.#last;
  }

  turn(): Turn {
    const before = this.#last;
    const { promise: last, resolve } = Promise.withResolvers<void>();
    this.#last = last;
    const over = (): void => {
      if (this.#last === last) this.#last = undefined;
      resolve();
    };
    return { before, over };
  }

  /**
   * `turn`: taken before the step starts, because the step calls host code that can call the
   * transaction again.
   */
  inTurn<T>(step: () => Promise<T>, { before, over } = this.turn()): Promise<T> {
    const done = before === undefined ? step() : before.then(step);
    done.then(over, over);
    return done;
  }
}
