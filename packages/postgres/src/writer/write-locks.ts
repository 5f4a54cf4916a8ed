import { createHash } from 'node:crypto';
import type { Readers } from '../connection/readers.ts';
import type { Session, Statement } from '../connection/session.ts';

/** The maximum number of write locks of trajectories that a process holds or waits for. */
export const WRITE_LOCKS_MAX = 4;

const LOCK: Statement = { name: 'assize turn', text: 'SELECT pg_advisory_lock($1)' };
const UNLOCK: Statement = { name: 'assize end turn', text: 'SELECT pg_advisory_unlock($1)' };

/**
 * The write locks of trajectories: advisory locks of the server. The server grants a lock in the
 * order of requests, and releases it when the connection ends. The locks have one key. The locks of
 * appends have two.
 */
export class WriteLocks {
  readonly #sessions: Readers;
  readonly #schema: string;
  readonly #ends = new Set<() => void>();

  /** The sessions are dedicated, and wait for a lock for the limit of a write lock. */
  constructor(sessions: Readers, schema: string) {
    this.#sessions = sessions;
    this.#schema = schema;
  }

  /**
   * Resolves to the function that releases the lock, or to undefined if the lock was not acquired.
   * Never rejects.
   */
  acquire(trajectoryId: string): Promise<(() => void) | undefined> {
    const key = lockKey(this.#schema, trajectoryId);
    return new Promise((resolve) => {
      const turn = async (session: Session): Promise<void> => {
        await session.run(LOCK, [key]);
        await this.#untilEnded(resolve);
        await session.run(UNLOCK, [key]);
      };
      // After a timeout or a lost server the writer continues without the lock. The write itself
      // reports a lost server.
      const giveUp = (): void => resolve(undefined);
      this.#sessions
        .lend((session) => turn(session).catch(() => session.end()))
        .then(giveUp, giveUp);
    });
  }

  /** Releases the held locks, and waits for the requested ones. */
  async close(): Promise<void> {
    const ended = this.#sessions.end();
    for (const end of this.#ends) end();
    await ended;
  }

  async #untilEnded(begins: (end: () => void) => void): Promise<void> {
    const { promise, resolve: end } = Promise.withResolvers<void>();
    this.#ends.add(end);
    begins(end);
    await promise;
    this.#ends.delete(end);
  }
}

/** Two trajectories with the same key share a lock. That is harmless. */
function lockKey(schema: string, trajectoryId: string): bigint {
  return createHash('sha256')
    .update(`assize turn\0${schema}\0${trajectoryId}`)
    .digest()
    .readBigInt64BE();
}
