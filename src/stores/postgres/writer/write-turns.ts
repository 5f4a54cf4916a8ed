import { createHash } from 'node:crypto';
import type { Readers } from '../connection/readers.ts';
import type { Session, Statement } from '../connection/session.ts';

/** So many trajectories a process waits for at once, or has its turn at. */
export const TURNS_MAX = 4;

const LOCK: Statement = { name: 'assize turn', text: 'SELECT pg_advisory_lock($1)' };
const UNLOCK: Statement = { name: 'assize end turn', text: 'SELECT pg_advisory_unlock($1)' };

/**
 * Turns at writing to a trajectory: an advisory lock of the server, which gives it in the order in which it was asked for, and
 * takes it back when a connection ends. Locks of one number, so that none is taken for those of appends, which have two.
 */
export class Turns {
  readonly #sessions: Readers;
  readonly #schema: string;
  readonly #ends = new Set<() => void>();

  /** The connections are its own, and wait for a lock as long as a turn is waited for. */
  constructor(sessions: Readers, schema: string) {
    this.#sessions = sessions;
    this.#schema = schema;
  }

  /** What ends the turn; nothing where it could not be had. Never rejects. */
  take(trajectoryId: string): Promise<(() => void) | undefined> {
    const key = lockKey(this.#schema, trajectoryId);
    return new Promise((resolve) => {
      const turn = async (session: Session): Promise<void> => {
        await session.run(LOCK, [key]);
        await this.#untilEnded(resolve);
        await session.run(UNLOCK, [key]);
      };
      // Whoever has waited for too long, or has lost the server, goes on without, and hears of the server where it matters.
      const giveUp = (): void => resolve(undefined);
      this.#sessions.lend((session) => turn(session).catch(() => session.end())).then(giveUp, giveUp);
    });
  }

  /** Ends the turns that are had, and waits for those that were asked for. */
  async end(): Promise<void> {
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

/** Two trajectories of one key take turns with each other, and nothing else comes of it. */
function lockKey(schema: string, trajectoryId: string): bigint {
  return createHash('sha256').update(`assize turn\0${schema}\0${trajectoryId}`).digest().readBigInt64BE();
}
