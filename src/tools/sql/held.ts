import type { Json } from '#base';
import { canonicalize } from '#canon';
import { type Call, DidNothing, EffectError, type HeldCall, type Holding, NoAnswer, type TogetherCall } from '#effects';
import type { SqlPart } from './part.ts';
import type { SqlDatabase } from './port.ts';
import { refusal } from './refusal.ts';
import { savepointName, TransactionEnded } from './still-open.ts';
import { begin, lookAgain } from './transact.ts';
import { cutOffWith, giveBack, inTime, rollBack, type Use, used } from './use.ts';

/** An open transaction, and what was done in it, in order: each behind a savepoint, so that it can be taken back to any of them. */
interface Open {
  readonly use: Use;
  readonly done: HeldCall[];
  readonly limit: NodeJS.Timeout;
  /** What its savepoints are called, with a number for each. */
  readonly mark: string;
  /** Settles when what is under way there has ended; undefined for nothing. */
  busy: Promise<void> | undefined;
  /** Settles when its connection was given back, since it was given up: it was held too long, or its end has come. */
  lost: Promise<void> | undefined;
  /** The database has taken back more than was asked for. */
  isGone: boolean;
}

/**
 * What one transaction of tools does in a database before its commit, in a transaction there that nobody else sees anything of. Where
 * that is lost, by its limit or with its connection, what was done is done again when it is needed, and has to answer the same.
 *
 * @experimental Staged SQL may change in any release.
 */
export class HeldSql implements Holding {
  readonly #database: SqlDatabase;
  #open: Open | undefined;
  #hasEnded = false;
  /** What was written there may stand, with its keys: nothing more of it is done, and what is found under those is for a person. */
  #ended: TransactionEnded | undefined;
  /** It was let go for what its own transaction does there, at least once: from then on it is looked each time whether all of it stands. */
  #hasGivenWay = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  execute(before: readonly HeldCall[], { part, input, call }: TogetherCall): Promise<Json> {
    return this.#inTurn(call, async (open) => {
      await this.#goTo(open, before, call.signal);
      const told = await written(open, { part, input, key: call.key }, call.signal);
      open.done.push({ part, input, key: call.key, told });
      return told;
    });
  }

  read(before: readonly HeldCall[], { part, input, call }: TogetherCall): Promise<Json> {
    return this.#inTurn(call, async (open) => {
      await this.#goTo(open, before, call.signal);
      const read = () => (part as SqlPart).answer(open.use.connection, input, call.signal);
      const value = await behindSavepoint(open, part, read);
      await backTo(open, open.done.length);
      return value;
    });
  }

  async commit(calls: readonly TogetherCall[]): Promise<readonly Json[] | undefined> {
    const { call: first } = calls[0]!;
    const { signal } = first;
    const all = calls.map(({ part, input, call, told }) => ({ part, input, key: call.key, told: told! }));
    // What was lost is done anew by its keys, by whoever can tell what became of it.
    if (this.#open === undefined || this.#open.lost !== undefined || all.some(({ told }) => told === undefined)) {
      await this.end();
      return undefined;
    }
    let isSent = false;
    try {
      return await this.#inTurn(first, async (open) => {
        // From now on its limit is that of the call.
        clearTimeout(open.limit);
        const isHeard = cutOffWith(signal, open.use);
        try {
          await this.#goTo(open, all, signal);
          for (const { part, key, told } of all) await (part as SqlPart).answerKey(open.use.rows, key, told);
          signal.throwIfAborted();
          isSent = true;
          return (await committed(open.use, all)) ? all.map(({ told }) => told) : undefined;
        } finally {
          isHeard();
        }
      });
    } catch (error) {
      // Before that it was nothing, whatever it was: it is done anew, by who says what is wrong with it.
      if (!isSent) return undefined;
      throw new NoAnswer('nobody knows whether it was committed', { cause: error, why: 'commit_unknown' });
    } finally {
      await this.end();
    }
  }

  async end(): Promise<void> {
    this.#hasEnded = true;
    if (this.#open !== undefined) await this.#lose(this.#open);
  }

  back(before: readonly HeldCall[]): Promise<void> {
    return this.#next(async () => {
      const open = this.#open;
      if (open === undefined || open.lost !== undefined) return;
      // Where it fails, all of it is let go.
      await this.#using(open, () => takeBack(open, before)).catch(() => undefined);
    });
  }

  async again(before: readonly HeldCall[], call: Pick<Call, 'signal' | 'epoch'>): Promise<void> {
    // Also where that was for another branch than the one that is asked for here: what was let go may be of one that comes later.
    if (!this.#hasGivenWay || before.length === 0) return;
    try {
      await this.#inTurn(call, (open) => this.#goTo(open, before, call.signal));
    } catch (error) {
      // What can't be had for the moment is done with the next call there, or asked for again at the gate.
      if (error instanceof EffectError && error.code === 'stale') throw error;
    }
  }

  /** One after the other, each in an open transaction, which it keeps for the next one. */
  #inTurn<T>(call: Pick<Call, 'signal' | 'epoch'>, make: (open: Open) => Promise<T>): Promise<T> {
    return this.#next(async () => {
      call.signal.throwIfAborted();
      if (this.#ended !== undefined) throw this.#ended;
      const open = await this.#opened(call);
      // Since it was looked at, its end may have come.
      if (open.lost !== undefined) throw heldTooLong();
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
      if (open.lost !== undefined) throw heldTooLong();
      return made;
    } catch (thrown) {
      over();
      // Cut off here, so that it answers nothing: no statement has ended it.
      const error = open.lost === undefined ? thrown : heldTooLong(thrown);
      if (open.isGone || !(error instanceof DidNothing)) await this.#lose(open);
      if (error instanceof TransactionEnded) this.#ended = error;
      throw error;
    }
  }

  async #opened({ signal, epoch }: Pick<Call, 'signal' | 'epoch'>): Promise<Open> {
    if (this.#open !== undefined && this.#open.lost === undefined) return this.#open;
    // Else what its own transaction does there at once, undoes, or reads again, would wait for its end, which waits for that.
    const letGo = (): void => {
      this.#hasGivenWay = true;
      // After what is under way there, which is of the same body.
      void this.#next(async () => {
        if (this.#open !== undefined) await this.#lose(this.#open).catch(() => undefined);
      });
    };
    const use = await used(this.#database, 'held', signal, { epoch, letGo });
    await this.#begin(use, signal);
    const limit = setTimeout(() => void this.#lose(open).catch(() => undefined), this.#database.heldMs!).unref();
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

  /** What does not answer is cut off when nobody waits for it, or when it would have been held for too long. */
  async #begin(use: Use, signal: AbortSignal): Promise<void> {
    const isHeard = cutOffWith(AbortSignal.any([signal, AbortSignal.timeout(this.#database.heldMs!)]), use);
    try {
      // Its turn may have come when nobody waits for it any more.
      this.#checkGoesOn();
      await begin(this.#database, use, signal);
      this.#checkGoesOn();
    } catch (error) {
      lookAgain(this.#database);
      await giveBack(use);
      throw error;
    } finally {
      isHeard();
    }
  }

  #checkGoesOn(): void {
    if (this.#hasEnded) throw new DidNothing('its transaction has ended');
  }

  /** Takes all of it back, and waits for that as long as it may take. */
  async #lose(open: Open): Promise<void> {
    clearTimeout(open.limit);
    open.lost ??= this.#letGo(open);
    await inTime(open.lost);
  }

  /** What is under way is cut off, with its connection; where nothing can do that, it comes to its end before. */
  async #letGo({ use, busy }: Open): Promise<void> {
    if (busy === undefined || use.connection.close === undefined) {
      await busy;
      return giveBack(use);
    }
    use.isBroken = true;
    await use.over().catch(() => undefined);
  }

  /** Takes back what is not of it, and does again what is missing. @throws EffectError `stale` where that answers otherwise than it had */
  async #goTo(open: Open, wanted: readonly HeldCall[], signal: AbortSignal): Promise<void> {
    await takeBack(open, wanted);
    const { done } = open;
    for (const call of wanted.slice(done.length)) {
      const answer = await written(open, call, signal).catch((cause: unknown) => {
        throw cause instanceof DidNothing ? stale(cause) : cause;
      });
      if (canonicalize(answer) !== canonicalize(call.told)) throw stale();
      done.push(call);
    }
  }
}

function heldTooLong(cause?: unknown): DidNothing {
  return new DidNothing('it was held for longer than it may be', { cause });
}

function stale(cause?: DidNothing): EffectError {
  return new EffectError('stale', 'What a statement has answered is not so any more; begin anew.', {
    retryable: true,
    cause,
  });
}

/** The n-th thing that was done is behind it. */
function nameOf({ mark }: Open, n: number): string {
  return `${mark}_${n}`;
}

/** Its key goes first: where a statement ends the transaction, and what was written stands, that is found under it. */
function written(open: Open, { part, input, key }: Omit<HeldCall, 'told'>, signal: AbortSignal): Promise<Json> {
  const { rows, connection } = open.use;
  return behindSavepoint(open, part as SqlPart, async () => {
    await (part as SqlPart).addKey(rows, key);
    return (part as SqlPart).answer(connection, input, signal);
  });
}

/** Where it fails it is as if it had not been; where not even that can be had, all is lost. */
async function behindSavepoint(open: Open, part: SqlPart, make: () => Promise<Json>): Promise<Json> {
  const { use, done } = open;
  await use.connection.query(`SAVEPOINT ${nameOf(open, done.length)}`, []);
  try {
    return await make();
  } catch (error) {
    if (error instanceof TransactionEnded) throw error;
    // Some errors a database answers by taking back all of the transaction.
    await backTo(open, done.length).catch(() => {
      open.isGone = true;
    });
    throw nothing(part, error);
  }
}

/** Takes back what is not of it. */
async function takeBack(open: Open, wanted: readonly HeldCall[]): Promise<void> {
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
  if (error instanceof DidNothing || error instanceof EffectError) return error;
  const what = error instanceof Error ? error.message : 'the database refused it';
  return new DidNothing(what, { final: !part.isPassing(error), cause: error, why: refusal(error) });
}

/** False where it is certain that nothing was. @throws what `commit` throws where nobody knows */
async function committed(use: Use, all: readonly HeldCall[]): Promise<boolean> {
  try {
    await use.connection.commit();
    return true;
  } catch (error) {
    // It may have come after the deed. Who has the connection still can ask.
    if (!(await rollBack(use))) throw error;
    for (const { key } of all) if ((await use.rows.of(key)) === undefined) return false;
    return true;
  }
}
