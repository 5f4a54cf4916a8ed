import { ConnectionLost, unreachableError } from '../errors.ts';
import type { Row } from './driver.ts';
import { whenReachable } from './retry.ts';
import type { Session, Statement } from './session.ts';

/** The time after which an unused connection is closed. The next read opens another one. */
const IDLE_MS = 30_000;

/** The maximum number of times that a read is sent, if its connection is lost. */
const READ_TRIES_MAX = 3;

export interface ReadersOptions {
  readonly path: string;
  readonly max: number;
  /** The number of attempts to reach the server before a read fails. */
  readonly attempts: number;
  readonly open: () => Promise<Session>;
}

interface Idle {
  readonly session: Session;
  readonly timer: NodeJS.Timeout;
}

interface WaitingRead {
  /** Called when a connection may be available. */
  readonly again: () => void;
  readonly fail: (error: unknown) => void;
}

/** The connection or pool that runs statements. */
export type ReadRequest = Pick<Readers, 'run'>;

/**
 * A pool of a few connections for reading, opened on demand. A read that lost its connection is
 * sent again.
 */
export class Readers {
  readonly #options: ReadersOptions;
  readonly #idle: Idle[] = [];
  readonly #waiting: WaitingRead[] = [];
  #count = 0;
  #running = 0;
  #whenQuiet: () => void = () => undefined;

  constructor(options: ReadersOptions) {
    this.#options = options;
  }

  /** Adds an open connection to the pool. */
  add(session: Session): void {
    this.#count += 1;
    this.#give(session);
  }

  async run(statement: Statement, values?: unknown[]): Promise<Row[]> {
    this.#running += 1;
    try {
      return await this.#run(statement, values);
    } finally {
      this.#rest();
    }
  }

  /** Waits for the reads in flight, then ends all connections. */
  async end(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => (this.#whenQuiet = resolve));
    const idle = this.#idle.splice(0);
    this.#count -= idle.length;
    for (const { session, timer } of idle) {
      clearTimeout(timer);
      await session.end();
    }
  }

  /** Lends a connection to a step that needs it exclusively for some time. */
  async lend<T>(step: (session: Session) => Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      const session = await this.#take();
      try {
        return await step(session);
      } finally {
        this.#give(session);
      }
    } finally {
      this.#rest();
    }
  }

  /**
   * Runs the statements in one snapshot on one connection. If the connection is lost, the step
   * starts again.
   */
  async atOneMoment<T>(step: (asking: ReadRequest) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      const lost: ConnectionLost[] = [];
      try {
        return await this.lend((session) => inSnapshot(session, step, lost));
      } catch (error) {
        if (lost.length === 0) throw error;
        if (tries === READ_TRIES_MAX) throw unreachableError(this.#options.path, error);
      }
    }
  }

  async #run(statement: Statement, values?: unknown[]): Promise<Row[]> {
    for (let tries = 1; ; tries += 1) {
      const session = await this.#take();
      try {
        return await session.run(statement, values);
      } catch (error) {
        if (!(error instanceof ConnectionLost)) throw error;
        if (tries === READ_TRIES_MAX) throw unreachableError(this.#options.path, error);
      } finally {
        this.#give(session);
      }
    }
  }

  #rest(): void {
    this.#running -= 1;
    if (this.#running === 0) this.#whenQuiet();
  }

  // The most recently used connection first, so surplus connections become idle.
  async #take(): Promise<Session> {
    for (;;) {
      const idle = this.#idle.pop();
      if (idle === undefined && this.#count < this.#options.max) return this.#open();
      if (idle === undefined) {
        await new Promise<void>((again, fail) => this.#waiting.push({ again, fail }));
        continue;
      }
      clearTimeout(idle.timer);
      if (idle.session.isOpen) return idle.session;
      this.#count -= 1;
    }
  }

  async #open(): Promise<Session> {
    this.#count += 1;
    try {
      return await whenReachable(this.#options.attempts, this.#options.open);
    } catch (error) {
      this.#count -= 1;
      // Otherwise every waiting read would wait for the same time, a few reads at a time.
      for (const { fail } of this.#waiting.splice(0)) fail(error);
      throw error;
    }
  }

  #give(session: Session): void {
    if (session.isOpen)
      this.#idle.push({ session, timer: setTimeout(() => this.#drop(session), IDLE_MS).unref() });
    else this.#count -= 1;
    this.#waiting.shift()?.again();
  }

  #drop(session: Session): void {
    const index = this.#idle.findIndex((idle) => idle.session === session);
    if (index === -1) return;
    this.#idle.splice(index, 1);
    this.#count -= 1;
    void session.end();
  }
}

/** Calls `lost` if the connection was lost. */
async function inSnapshot<T>(
  session: Session,
  step: (asking: ReadRequest) => Promise<T>,
  lost: ConnectionLost[],
): Promise<T> {
  // One statement at a time.
  let last: Promise<unknown> = Promise.resolve();
  const run = (statement: Statement, values?: unknown[]): Promise<Row[]> => {
    const answer = last.then(() => session.run(statement, values));
    last = answer.catch((error: unknown) => {
      if (error instanceof ConnectionLost) lost.push(error);
    });
    return answer;
  };
  try {
    await run({ text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' });
    return await step({ run });
  } finally {
    // No other read may use the snapshot.
    await run({ text: 'ROLLBACK' }).catch(() => session.end());
  }
}
