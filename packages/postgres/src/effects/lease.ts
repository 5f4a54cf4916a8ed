import { createHash } from 'node:crypto';
import type { Lease, Membership } from 'assize/internal/ledger';
import { whenReachable } from '../connection/retry.ts';
import type { Session, Statement } from '../connection/session.ts';
import { ConnectionLost, sqlState, unreachableError } from '../errors.ts';
import type { ConnectedMembership } from './members.ts';

/**
 * The longest wait of a connection for the lock before it asks again. An abandoned request waits no
 * longer than this.
 */
export const LEASE_WAIT_MS = 1_000;

const LOCK: Statement = { text: 'SELECT pg_advisory_lock($1)' };
const LOCK_SHARED: Statement = { text: 'SELECT pg_advisory_lock_shared($1)' };
/** The SQLSTATE of a lock timeout. */
const WAITED = '55P03';

type GrantedLease = Pick<Lease, 'fence' | 'lastEpoch'>;

export interface LeasesOptions {
  readonly path: string;
  readonly schema: string;
  /** The number of attempts to reach the server before a request fails. */
  readonly attempts: number;
  /** Opens a connection that waits for a lock for `LEASE_WAIT_MS`. */
  readonly open: () => Promise<Session>;
}

/**
 * Exclusive leases on the effect log of a store: an advisory lock of the server on a dedicated
 * connection. The server releases the lock when the connection ends. Each lease raises the fence in
 * the store. A holder that has not noticed the loss of its connection is therefore fenced.
 */
export class Leases {
  readonly #options: LeasesOptions;
  readonly #key: bigint;
  /** Ends each wait with the reason. */
  readonly #closing = new AbortController();
  readonly #sessions = new Set<Session>();

  constructor(options: LeasesOptions) {
    this.#options = options;
    // A lock with one key. The locks of appends have two.
    this.#key = createHash('sha256')
      .update(`assize effects\0${options.schema}`)
      .digest()
      .readBigInt64BE();
  }

  /**
   * `raise` raises the fence.
   * @throws the reason of the signal or of `refuse`, or the errors of the server and of `raise`
   */
  async acquire(raise: () => Promise<GrantedLease>, signal?: AbortSignal): Promise<Lease> {
    const { session, made } = await this.#locked(LOCK, raise, signal);
    return { ...made, release: () => this.#part(session) };
  }

  /** Joins in shared mode, on a dedicated connection. @throws the errors of `acquire` */
  async share(
    join: (session: Session) => Promise<ConnectedMembership>,
    signal?: AbortSignal,
  ): Promise<Membership> {
    const { session, made } = await this.#locked(LOCK_SHARED, join, signal);
    const { leave, ...membership } = made;
    return {
      ...membership,
      whyEnded: () => this.#closing.signal.reason ?? made.whyEnded?.(),
      release: async () => {
        await leave();
        await this.#part(session);
      },
    };
  }

  /**
   * If the server is gone, for example during a restart, the step starts again after the server's
   * return. The lost connection has released the lock and ended its lease.
   */
  async #locked<T>(
    lock: Statement,
    make: (session: Session) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly session: Session; readonly made: T }> {
    const waiting = AbortSignal.any([
      this.#closing.signal,
      ...(signal === undefined ? [] : [signal]),
    ]);
    return whenReachable(
      this.#options.attempts,
      () => this.#tryLocked(lock, make, waiting),
      waiting,
    );
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

  /** Ends every wait with the reason. No lease is given from now on. */
  refuse(reason: Error): void {
    this.#closing.abort(reason);
  }

  /** Ends the current lease. */
  async end(): Promise<void> {
    for (const session of this.#sessions) await this.#part(session);
  }

  async #part(session: Session): Promise<void> {
    this.#sessions.delete(session);
    await session.end();
  }
}

/** Raises the fence with `hold_effects`. */
export function prepareRaise(schema: string): (session: Session) => Promise<GrantedLease> {
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
