import { StoreError } from '../../errors.ts';
import type { Durability } from '../../options.ts';
import { whenReachable } from '../connection/retry.ts';
import type { Session } from '../connection/session.ts';
import { ConnectionLost, readonlyError, unreachableError } from '../errors.ts';

/** The server's process behind a connection, so named that no later one is taken for it. */
interface Backend {
  readonly pid: string;
  readonly startedAt: string;
}

export interface WriterOptions {
  readonly path: string;
  readonly durability: Durability;
  /** Attempts to reach the server before what waits fails. */
  readonly attempts: number;
  readonly open: () => Promise<Session>;
  /** Throws where the store is no longer what it was when it was opened. */
  readonly check: (session: Session) => Promise<void>;
}

/** How long the server may take to end a process of its own. */
const END_TIMEOUT_MS = 5_000;

/** The connection that writes: opened anew when it is lost, and set up each time. */
export class Writer {
  readonly #options: WriterOptions;
  #session: Session;
  #backend: Backend;
  #opening: Promise<Session> | undefined;
  /** Processes whose connection was lost under a statement, and which may still be carrying it out. */
  #orphans: readonly Backend[] = [];

  private constructor(options: WriterOptions, session: Session, backend: Backend) {
    this.#options = options;
    this.#session = session;
    this.#backend = backend;
  }

  /** Takes a connection over. @throws {StoreError} where the server can't keep what the options ask for */
  static async over(session: Session, options: WriterOptions): Promise<Writer> {
    return new Writer(options, session, await setUp(session, options));
  }

  /** A connection to write over. @throws {StoreError} where none can be had */
  async session(): Promise<Session> {
    if (this.#session.isOpen) return this.#session;
    this.#opening ??= whenReachable(this.#options.attempts, () => this.#open()).finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** To be told when a statement was lost: it may be carried out yet. */
  lost(): void {
    this.#orphans = [...this.#orphans, this.#backend];
  }

  /** Settles when no lost statement can be carried out any more. @throws {StoreError} when that can't be found out */
  async settled(): Promise<void> {
    if (this.#orphans.length > 0) await this.session();
  }

  async end(): Promise<void> {
    await this.#session.end();
  }

  async #open(): Promise<Session> {
    const session = await this.#options.open();
    try {
      const backend = await setUp(session, this.#options);
      await this.#options.check(session);
      await this.#endOrphans(session, backend);
      this.#backend = backend;
      this.#session = session;
      return session;
    } catch (error) {
      await session.end();
      // To be made again, as one that could not be made.
      throw error instanceof ConnectionLost ? unreachableError(this.#options.path, error) : error;
    }
  }

  // A server that has not noticed yet that the connection is gone would commit what no one waits for, after it was looked
  // for in vain.
  async #endOrphans(session: Session, backend: Backend): Promise<void> {
    if (this.#orphans.length === 0) return;
    for (const { pid, startedAt } of this.#orphans) {
      const rows = await session.run({ text: END_BACKEND }, [pid, startedAt, END_TIMEOUT_MS]);
      if (rows.some(([ended]) => ended !== 't')) {
        throw unreachableError(this.#options.path, new Error(`the server's process ${pid} does not end`));
      }
    }
    if (this.#options.durability === 'full') {
      // Where that is lost too, it waits on there, and nobody else beside it.
      this.#orphans = [backend];
      await session.run({ text: WRITE });
    }
    this.#orphans = [];
  }
}

/** Makes commits as durable as they have to be, and sees that the server does so. */
async function setUp(session: Session, { path, durability }: WriterOptions): Promise<Backend> {
  const [row] = await session.run({ text: SET_UP }, [durability === 'full' ? 'on' : 'off']);
  const [, fsync, commit, readonly, pid, startedAt] = row as [string, string, string, string, string, string];
  if (durability === 'full' && (fsync !== 'on' || !['on', 'remote_apply'].includes(commit))) {
    throw new StoreError(
      'store_failed',
      `The server of ${path} runs with fsync = ${fsync}, so no commit is durable; turn it on, or open with durability off.`,
      { evidence: { path, fsync, synchronous_commit: commit } },
    );
  }
  if (readonly !== 'off') throw readonlyError(path, 'the server allows this user no writes, or is a standby');
  return { pid, startedAt };
}

// remote_apply waits for more than on does, so it stays.
const SET_UP = `
SELECT set_config('default_transaction_isolation', 'read committed', false), current_setting('fsync'),
  set_config('synchronous_commit',
    CASE WHEN $1 = 'on' AND current_setting('synchronous_commit') = 'remote_apply' THEN 'remote_apply' ELSE $1 END, false),
  current_setting('transaction_read_only'),
  pg_backend_pid(),
  (SELECT extract(epoch FROM backend_start) FROM pg_stat_activity WHERE pid = pg_backend_pid())`;

// One that waits for a standby has committed: to end that wait is to show to all what may be lost yet. It ends by itself.
const END_BACKEND = `
SELECT CASE WHEN wait_event = 'SyncRep' THEN false ELSE pg_terminate_backend(pid, $3) END FROM pg_stat_activity
WHERE pid = $1 AND extract(epoch FROM backend_start) = $2`;

/** Something that changes nothing: where this is as durable as it has to be, all that was committed before it is. */
const WRITE = "SELECT pg_logical_emit_message(true, 'assize', '')";
