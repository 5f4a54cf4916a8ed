import { errorMessage, isInstance, type Json } from 'assize/internal/base';
import { canonicalize } from 'assize/internal/canon';
import {
  type BatchedCall,
  type CallContext,
  DidNothing,
  EffectError,
  NoAnswer,
  type StagedCall,
  type StagedTransaction,
} from 'assize/internal/effects';
import {
  type BorrowedConnection,
  borrowConnection,
  cutOffWith,
  inTime,
  releaseConnection,
  rollBack,
} from './borrowed-connection.ts';
import type { SqlPart } from './part.ts';
import type { SqlDatabase } from './port.ts';
import { refusal } from './refusal.ts';
import { savepointName, TransactionEnded } from './still-open.ts';
import { begin, forgetTable } from './transact.ts';

/**
 * An open transaction and the calls in it, in order. Each call has a savepoint, so the transaction
 * can roll back to any of them.
 */
interface Open {
  readonly use: BorrowedConnection;
  readonly done: StagedCall[];
  readonly limit: NodeJS.Timeout;
  /** Prefix of its numbered savepoints. */
  readonly mark: string;
  /** Resolves when the work in progress has ended. Undefined if no work is in progress. */
  busy: Promise<void> | undefined;
  /**
   * Resolves when the connection was returned after a release: the time limit was reached, or the
   * transaction ends.
   */
  lost: Promise<void> | undefined;
  /** Whether the database rolled back more than requested. */
  isGone: boolean;
}

/**
 * The staged writes of one tool transaction in a database, in an open database transaction that no
 * other reader sees. If that transaction is lost, by its time limit or with its connection, the
 * writes are repeated when needed. They must then return the same answers.
 *
 * @experimental Staged SQL may change in any release.
 */
export class StagedSql implements StagedTransaction {
  readonly #database: SqlDatabase;
  #open: Open | undefined;
  #hasEnded = false;
  /**
   * The writes may have been committed with their keys. No more writes are staged, and effects
   * under these keys need a human decision.
   */
  #ended: TransactionEnded | undefined;
  /**
   * Whether the staged writes were released at least once for the transaction's own call. From then
   * on, each call checks that all writes are staged.
   */
  #hasGivenWay = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  execute(before: readonly StagedCall[], { part, input, call }: BatchedCall): Promise<Json> {
    return this.#inTurn(call, async (open) => {
      await this.#goTo(open, before, call.signal);
      const told = await written(open, { part, input, key: call.key }, call.signal);
      open.done.push({ part, input, key: call.key, reported: told });
      return told;
    });
  }

  read(before: readonly StagedCall[], { part, input, call }: BatchedCall): Promise<Json> {
    return this.#inTurn(call, async (open) => {
      await this.#goTo(open, before, call.signal);
      const read = () => (part as SqlPart).answer(open.use.connection, input, call.signal);
      const value = await withSavepoint(open, part, read);
      await backTo(open, open.done.length);
      return value;
    });
  }

  async commit(calls: readonly BatchedCall[]): Promise<readonly Json[] | undefined> {
    const { call: first } = calls[0]!;
    const { signal } = first;
    const all = calls.map(({ part, input, call, reported }) => ({
      part,
      input,
      key: call.key,
      reported: reported!,
    }));
    // A lost write is repeated under its key, by the code that can reconcile it.
    if (
      this.#open === undefined ||
      this.#open.lost !== undefined ||
      all.some(({ reported }) => reported === undefined)
    ) {
      await this.rollback();
      return undefined;
    }
    let isSent = false;
    try {
      return await this.#inTurn(first, async (open) => {
        // From now on the call's own time limit applies.
        clearTimeout(open.limit);
        const isHeard = cutOffWith(signal, open.use);
        try {
          await this.#goTo(open, all, signal);
          for (const { part, key, reported } of all)
            await (part as SqlPart).answerKey(open.use.rows, key, reported);
          signal.throwIfAborted();
          isSent = true;
          return (await committed(open.use, all)) ? all.map(({ reported }) => reported) : undefined;
        } finally {
          isHeard();
        }
      });
    } catch (error) {
      // Before the commit was sent, the error means that nothing was done. The writes are repeated
      // by the code that reports the error.
      if (!isSent) return undefined;
      throw new NoAnswer('the outcome of the commit is unknown', {
        cause: error,
        why: 'commit_unknown',
      });
    } finally {
      await this.rollback();
    }
  }

  async rollback(): Promise<void> {
    this.#hasEnded = true;
    if (this.#open !== undefined) await this.#lose(this.#open);
  }

  rollbackTo(before: readonly StagedCall[]): Promise<void> {
    return this.#next(async () => {
      const open = this.#open;
      if (open === undefined || open.lost !== undefined) return;
      // If the rollback fails, all staged writes are released.
      await this.#using(open, () => takeBack(open, before)).catch(() => undefined);
    });
  }

  async replay(
    before: readonly StagedCall[],
    call: Pick<CallContext, 'signal' | 'epoch'>,
  ): Promise<void> {
    // Also if another branch caused the release: the released writes may belong to a later branch.
    if (!this.#hasGivenWay || before.length === 0) return;
    try {
      await this.#inTurn(call, (open) => this.#goTo(open, before, call.signal));
    } catch (error) {
      // Temporarily unavailable writes are staged with the next call, or requested again at the
      // gate.
      if (isInstance(error, EffectError) && error.code === 'stale') throw error;
    }
  }

  /** Runs steps in sequence, each in an open transaction that the next step uses too. */
  #inTurn<T>(
    call: Pick<CallContext, 'signal' | 'epoch'>,
    make: (open: Open) => Promise<T>,
  ): Promise<T> {
    return this.#next(async () => {
      call.signal.throwIfAborted();
      if (this.#ended !== undefined) throw this.#ended;
      const open = await this.#opened(call);
      // The transaction may have been released since the check.
      if (open.lost !== undefined) throw stagedTooLongError();
      return this.#using(open, make);
    });
  }

  #next<T>(step: () => Promise<T>): Promise<T> {
    const done = this.#last.then(step);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #using<T>(open: Open, make: (open: Open) => Promise<T>): Promise<T> {
    const { promise: busy, resolve: isOver } = Promise.withResolvers<void>();
    open.busy = busy;
    const over = (): void => {
      open.busy = undefined;
      isOver();
    };
    try {
      const made = await make(open);
      over();
      if (open.lost !== undefined) throw stagedTooLongError();
      return made;
    } catch (thrown) {
      over();
      // The release cut the statement off, so no statement has ended the transaction.
      const error = open.lost === undefined ? thrown : stagedTooLongError(thrown);
      if (open.isGone || !(error instanceof DidNothing)) await this.#lose(open);
      if (error instanceof TransactionEnded) this.#ended = error;
      throw error;
    }
  }

  async #opened({ signal, epoch }: Pick<CallContext, 'signal' | 'epoch'>): Promise<Open> {
    if (this.#open !== undefined && this.#open.lost === undefined) return this.#open;
    // Otherwise an immediate call, a compensation or a repeated read of the same tool transaction
    // would wait for the staged writes, and these wait for that call.
    const letGo = (): void => {
      this.#hasGivenWay = true;
      // After the work in progress: it belongs to the same body.
      void this.#next(async () => {
        if (this.#open !== undefined) await this.#lose(this.#open).catch(() => undefined);
      });
    };
    const use = await borrowConnection(this.#database, 'held', signal, { epoch, letGo });
    await this.#begin(use, signal);
    const limit = setTimeout(
      () => void this.#lose(open).catch(() => undefined),
      this.#database.stagedTimeoutMs!,
    ).unref();
    const open: Open = {
      use,
      done: [],
      limit,
      mark: savepointName(),
      busy: undefined,
      lost: undefined,
      isGone: false,
    };
    this.#open = open;
    return open;
  }

  /** A database that does not respond is cut off on abort, or when the time limit is reached. */
  async #begin(use: BorrowedConnection, signal: AbortSignal): Promise<void> {
    const isHeard = cutOffWith(
      AbortSignal.any([signal, AbortSignal.timeout(this.#database.stagedTimeoutMs!)]),
      use,
    );
    try {
      // The call may already be aborted when it gets the connection.
      this.#checkGoesOn();
      await begin(this.#database, use, signal);
      this.#checkGoesOn();
    } catch (error) {
      forgetTable(this.#database);
      await releaseConnection(use);
      throw error;
    } finally {
      isHeard();
    }
  }

  #checkGoesOn(): void {
    if (this.#hasEnded) throw new DidNothing('its transaction has ended');
  }

  /** Rolls everything back, without a time limit. */
  async #lose(open: Open): Promise<void> {
    clearTimeout(open.limit);
    open.lost ??= this.#letGo(open);
    await inTime(open.lost);
  }

  /**
   * Cuts off the work in progress with its connection. Without such a method, the work ends first.
   */
  async #letGo({ use, busy }: Open): Promise<void> {
    if (busy === undefined || use.connection.close === undefined) {
      await busy;
      return releaseConnection(use);
    }
    use.isBroken = true;
    await use.over().catch(() => undefined);
  }

  /**
   * Rolls back unwanted writes, and repeats missing ones.
   * @throws EffectError `stale` if a repeated write returns another answer
   */
  async #goTo(open: Open, wanted: readonly StagedCall[], signal: AbortSignal): Promise<void> {
    await takeBack(open, wanted);
    const { done } = open;
    for (const call of wanted.slice(done.length)) {
      const answer = await written(open, call, signal).catch((cause: unknown) => {
        throw isInstance(cause, DidNothing) ? stale(cause) : cause;
      });
      if (canonicalize(answer) !== canonicalize(call.reported)) throw stale();
      done.push(call);
    }
  }
}

function stagedTooLongError(cause?: unknown): DidNothing {
  return new DidNothing('the writes were staged for longer than the limit', { cause });
}

function stale(cause?: DidNothing): EffectError {
  return new EffectError(
    'stale',
    'The answer of a statement has changed since. Retry the transaction.',
    {
      retryable: true,
      cause,
    },
  );
}

/** The savepoint after the n-th write. */
function nameOf({ mark }: Open, n: number): string {
  return `${mark}_${n}`;
}

/**
 * The key is written first. If a statement ends the transaction and its writes are committed, they
 * are found under the key.
 */
function written(
  open: Open,
  { part, input, key }: Omit<StagedCall, 'reported'>,
  signal: AbortSignal,
): Promise<Json> {
  const { rows, connection } = open.use;
  return withSavepoint(open, part as SqlPart, async () => {
    await (part as SqlPart).addKey(rows, key);
    return (part as SqlPart).answer(connection, input, signal);
  });
}

/**
 * If a write fails, it is rolled back. If the rollback fails too, the whole transaction is lost.
 */
async function withSavepoint(open: Open, part: SqlPart, make: () => Promise<Json>): Promise<Json> {
  const { use, done } = open;
  await use.connection.query(`SAVEPOINT ${nameOf(open, done.length)}`, []);
  try {
    return await make();
  } catch (error) {
    if (isInstance(error, TransactionEnded)) throw error;
    // Some databases answer some errors by rolling back the whole transaction.
    await backTo(open, done.length).catch(() => {
      open.isGone = true;
    });
    throw nothing(part, error);
  }
}

/** Rolls back unwanted writes. */
async function takeBack(open: Open, wanted: readonly StagedCall[]): Promise<void> {
  const { done } = open;
  let same = 0;
  while (same < done.length && done[same]!.key === wanted[same]?.key) same++;
  if (same === done.length) return;
  await backTo(open, same);
  done.length = same;
}

async function backTo(open: Open, n: number): Promise<void> {
  for (const text of ['ROLLBACK TO SAVEPOINT', 'RELEASE SAVEPOINT'])
    await open.use.connection.query(`${text} ${nameOf(open, n)}`, []);
}

function nothing(part: SqlPart, error: unknown): unknown {
  if (isInstance(error, DidNothing) || isInstance(error, EffectError)) return error;
  const what = errorMessage(error) ?? 'the database refused it';
  return new DidNothing(what, {
    final: !part.isTransient(error),
    cause: error,
    why: refusal(error),
  });
}

/**
 * Returns false if certainly nothing was committed.
 * @throws the error of `commit` if the outcome is unknown
 */
async function committed(use: BorrowedConnection, all: readonly StagedCall[]): Promise<boolean> {
  try {
    await use.connection.commit();
    return true;
  } catch (error) {
    // The error may follow the commit. A usable connection can query the outcome.
    if (!(await rollBack(use))) throw error;
    for (const { key } of all) if ((await use.rows.of(key)) === undefined) return false;
    return true;
  }
}
