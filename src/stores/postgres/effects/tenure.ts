import { createHash } from 'node:crypto';
import type { Membership, Tenure } from '#ledger';
import { whenReachable } from '../connection/retry.ts';
import type { Session, Statement } from '../connection/session.ts';
import { ConnectionLost, sqlState, unreachableError } from '../errors.ts';
import type { Joined } from './members.ts';

/** So long a connection waits for the lock before it asks again; one that was given up waits no longer than that. */
export const TENURE_WAIT_MS = 1_000;

const LOCK: Statement = { text: 'SELECT pg_advisory_lock($1)' };
const LOCK_SHARED: Statement = { text: 'SELECT pg_advisory_lock_shared($1)' };
/** SQLSTATE of a lock that was waited for too long. */
const WAITED = '55P03';

type Given = Pick<Tenure, 'fence' | 'lastEpoch'>;

export interface TenuresOptions {
  readonly path: string;
  readonly schema: string;
  /** Attempts to reach the server before whoever asks hears that it can't be. */
  readonly attempts: number;
  /** A connection that waits for a lock as long as `TENURE_WAIT_MS`. */
  readonly open: () => Promise<Session>;
}

/**
 * Tenures of the effects of a store: an advisory lock of the server on a connection of its own, freed when that ends. Whoever
 * has lost the connection and does not know yet is fenced: with each tenure the fence in the store is raised.
 */
export class Tenures {
  readonly #options: TenuresOptions;
  readonly #key: bigint;
  /** Ends each wait, with why. */
  readonly #closing = new AbortController();
  readonly #sessions = new Set<Session>();

  constructor(options: TenuresOptions) {
    this.#options = options;
    // One number, so that it is none of the locks of appends, which have two.
    this.#key = createHash('sha256').update(`assize effects\0${options.schema}`).digest().readBigInt64BE();
  }

  /** `raise` raises the fence. @throws the reason of the signal or of `refuse`, or what the server and `raise` throw */
  async hold(raise: () => Promise<Given>, signal?: AbortSignal): Promise<Tenure> {
    const { session, made } = await this.#locked(LOCK, raise, signal);
    return { ...made, release: () => this.#part(session) };
  }

  /** A place beside others who share, on a connection of its own. @throws as `hold` does */
  async share(join: (session: Session) => Promise<Joined>, signal?: AbortSignal): Promise<Membership> {
    const { session, made } = await this.#locked(LOCK_SHARED, join, signal);
    const { part, ...membership } = made;
    return {
      ...membership,
      whyEnded: () => this.#closing.signal.reason ?? made.whyEnded?.(),
      release: async () => {
        await part();
        await this.#part(session);
      },
    };
  }

  /** Where the server is gone, as while it restarts, begins anew once it is back: with the connection went the lock, and all that it was for. */
  async #locked<T>(
    lock: Statement,
    make: (session: Session) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly session: Session; readonly made: T }> {
    const waiting = AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])]);
    return whenReachable(this.#options.attempts, () => this.#tryLocked(lock, make, waiting), waiting);
  }

  async #tryLocked<T>(
    lock: Statement,
    make: (session: Session) => Promise<T>,
    waiting: AbortSignal,
  ): Promise<{ readonly session: Session; readonly made: T }> {
    waiting.throwIfAborted();
    const session = await this.#options.open();
    this.#sessions.add(session);
    const giveUp = (): void => void this.#part(session);
    waiting.addEventListener('abort', giveUp, { once: true });
    try {
      waiting.throwIfAborted();
      while (!(await tryLock(session, lock, this.#key)));
      const made = await make(session);
      waiting.throwIfAborted();
      return { session, made };
    } catch (error) {
      await this.#part(session);
      waiting.throwIfAborted();
      throw error instanceof ConnectionLost ? unreachableError(this.#options.path, error) : error;
    } finally {
      waiting.removeEventListener('abort', giveUp);
    }
  }

  /** Ends every wait with that reason; no tenure is given from now on. */
  refuse(reason: Error): void {
    this.#closing.abort(reason);
  }

  /** Ends the tenure that is had. */
  async end(): Promise<void> {
    for (const session of this.#sessions) await this.#part(session);
  }

  async #part(session: Session): Promise<void> {
    this.#sessions.delete(session);
    await session.end();
  }
}

/** Raises the fence by `hold_effects`. */
export function prepareRaise(schema: string): (session: Session) => Promise<Given> {
  const statement: Statement = { text: `SELECT * FROM "${schema}".hold_effects()` };
  return async (session) => {
    const [row] = await session.run(statement);
    return { fence: Number(row![0]), lastEpoch: Number(row![1]) };
  };
}

async function tryLock(session: Session, lock: Statement, key: bigint): Promise<boolean> {
  try {
    await session.run(lock, [key]);
    return true;
  } catch (error) {
    if (sqlState(error) === WAITED) return false;
    throw error;
  }
}
