import type { Json } from '#base';
import { type Claim, EffectError, type StagedCall, type Tool } from '#effects';
import type { StartedTransaction, TransactionEngine } from '../engine/engine.ts';
import type { TransactionRun } from '../log/advance.ts';
import { StagedWrites } from '../log/staged-writes.ts';
import { Claims } from './claims.ts';
import { IdempotencyKeys } from './idempotency-keys.ts';
import { type OpenedTransaction, startTransaction } from './opened-transaction.ts';

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
interface QueuePosition {
  readonly before: Promise<void> | undefined;
  readonly over: () => void;
}

/** One attempt of a transaction, with its own epoch: the state that all its branches share. */
export class Attempt {
  readonly engine: TransactionEngine;
  readonly context: OpenedTransaction;
  readonly claims: Claims;
  readonly keys: IdempotencyKeys;
  /** @experimental Staged SQL may change in any release. */
  readonly stagedWrites = new StagedWrites();
  #started: StartedTransaction | undefined;
  #last: Promise<void> | undefined;
  #calls = 0;

  /** A late attempt has not started yet. */
  constructor(opened: OpenedTransaction, started: StartedTransaction | undefined) {
    this.engine = opened.engine;
    this.context = opened;
    this.#started = started;
    this.claims = new Claims(this, started?.work.claims ?? opened.claims);
    this.keys = new IdempotencyKeys(opened);
  }

  /** The epoch and the log of the attempt. A late attempt receives them at its gate. */
  get started(): StartedTransaction | undefined {
    return this.#started;
  }

  /** Starts a late attempt, with all claims of its body. */
  async start(): Promise<StartedTransaction> {
    this.#started = await startTransaction(this.context, this.claims.all);
    return this.#started;
  }

  /** The part of the attempt's log that a body may use. */
  get run(): Pick<TransactionRun, 'epoch' | 'call' | 'discard' | 'isGone'> | undefined {
    return this.#started?.run;
  }

  /** The epoch of the attempt. A late transaction receives it at its gate; it is 0 until then. */
  get epoch(): number {
    return this.run?.epoch ?? 0;
  }

  /** Counts one more effect call. @throws EffectError `too_much` */
  count({ name }: Tool): void {
    if (this.#calls >= CALLS_MAX)
      throw new EffectError(
        'too_much',
        `${name} was not called: a transaction can have ${CALLS_MAX} write calls, including calls that did nothing. Make the other calls in another transaction.`,
        { evidence: { tool: name, max: CALLS_MAX } },
      );
    this.#calls++;
  }

  checkNames(tool: Tool, input: Json, claims: readonly Claim[]): Promise<void> {
    return this.engine.names.requireUnchanged(tool, input, claims, this.context.signal);
  }

  /** An executing tool has its own limit (`Patience`) and does not count as an idle body. */
  async pauseIdleTimer<T>(act: () => Promise<T>): Promise<T> {
    const { limit } = this.context;
    limit.pause();
    try {
      return await act();
    } finally {
      limit.resume();
    }
  }

  /**
   * Repeats the branch's staged writes that yielded to an effect or its compensation.
   *
   * @experimental Staged SQL may change in any release.
   * @throws EffectError `stale`
   */
  replayStaged(branch: { stagedAt(at: object): readonly StagedCall[] }): Promise<void> {
    const { signal } = this.context;
    return this.pauseIdleTimer(() =>
      this.stagedWrites.replay((at) => branch.stagedAt(at), { signal, epoch: this.epoch }),
    );
  }

  /**
   * The last call in the queue of calls that execute immediately. They run in order; each plan sees
   * the earlier ones. Undefined if the queue is empty.
   */
  get last(): Promise<void> | undefined {
    return this.#last;
  }

  enqueue(): QueuePosition {
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
  runInOrder<T>(step: () => Promise<T>, { before, over } = this.enqueue()): Promise<T> {
    const done = before === undefined ? step() : before.then(step);
    done.then(over, over);
    return done;
  }
}
