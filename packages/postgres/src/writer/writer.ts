import { StoreError } from 'assize/internal/stores/errors.ts';
import type { Durability } from 'assize/internal/stores/options.ts';
import { whenReachable } from '../connection/retry.ts';
import type { Session } from '../connection/session.ts';
import { ConnectionLost, readonlyError, unreachableError } from '../errors.ts';

/** The server's process behind a connection, with a name that no later process shares. */
interface Backend {
  readonly pid: string;
  readonly startedAt: string;
}

export interface WriterOptions {
  readonly path: string;
  readonly durability: Durability;
  /** The number of attempts to reach the server before waiting jobs fail. */
  readonly attempts: number;
  readonly open: () => Promise<Session>;
  /** Throws if the store has changed since it was opened. */
  readonly check: (session: Session) => Promise<void>;
}

/** The longest time for the server to end one of its processes. */
const END_TIMEOUT_MS = 5_000;

/** The writing connection. It is reopened after a loss, and set up each time. */
export class Writer {
  readonly #options: WriterOptions;
  #session: Session;
  #backend: Backend;
  #opening: Promise<Session> | undefined;
  /**
   * The server processes that lost their connection during a statement, and may still execute it.
   */
  #orphans: readonly Backend[] = [];

  private constructor(options: WriterOptions, session: Session, backend: Backend) {
    this.#options = options;
    this.#session = session;
    this.#backend = backend;
  }

  /** Accepts a connection. @throws {StoreError} if the server cannot provide the options */
  static async over(session: Session, options: WriterOptions): Promise<Writer> {
    return new Writer(options, session, await setUp(session, options));
  }

  /** The connection to write with. @throws {StoreError} if none can be opened */
  async session(): Promise<Session> {
    if (this.#session.isOpen) return this.#session;
    this.#opening ??= whenReachable(this.#options.attempts, () => this.#open()).finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** Reports that a statement was lost. The server may still execute it. */
  statementLost(): void {
    this.#orphans = [...this.#orphans, this.#backend];
  }

  /**
   * Resolves when the server no longer executes any lost statement.
   * @throws {StoreError} if that cannot be determined
   */
  async lostStatementsEnded(): Promise<void> {
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
      // The connection must be opened again, as if opening had failed.
      throw error instanceof ConnectionLost ? unreachableError(this.#options.path, error) : error;
    }
  }

  // A server that has not noticed the loss of the connection could commit an abandoned statement
  // after `resolve` has searched for it without success.
  async #endOrphans(session: Session, backend: Backend): Promise<void> {
    if (this.#orphans.length === 0) return;
    for (const { pid, startedAt } of this.#orphans) {
      const rows = await session.run({ text: END_BACKEND }, [pid, startedAt, END_TIMEOUT_MS]);
      if (rows.some(([ended]) => ended !== 't')) {
        throw unreachableError(
          this.#options.path,
          new Error(`the server process ${pid} does not end`),
        );
      }
    }
    if (this.#options.durability === 'full') {
      // If this connection is also lost, its process waits there as the only orphan.
      this.#orphans = [backend];
      await session.run({ text: WRITE });
    }
    this.#orphans = [];
  }
}

/** Sets the durability of commits, and verifies that the server applies it. */
async function setUp(session: Session, { path, durability }: WriterOptions): Promise<Backend> {
  const [row] = await session.run({ text: SET_UP }, [durability === 'full' ? 'on' : 'off']);
  const [, fsync, commit, readonly, pid, startedAt] = row as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  if (durability === 'full' && (fsync !== 'on' || !['on', 'remote_apply'].includes(commit))) {
    throw new StoreError(
      'store_failed',
      `The server of ${path} runs with fsync = ${fsync}, so no commit is durable. Turn fsync on, or open the store with durability off.`,
      { evidence: { path, fsync, synchronous_commit: commit } },
    );
  }
  if (readonly !== 'off')
    throw readonlyError(path, 'the server allows this user no writes, or is a standby');
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

// A statement that waits for a standby has committed. Ending its wait would show data to readers
// that may still be lost. The wait ends automatically.
const END_BACKEND = `
SELECT CASE WHEN wait_event = 'SyncRep' THEN false ELSE pg_terminate_backend(pid, $3) END FROM pg_stat_activity
WHERE pid = $1 AND extract(epoch FROM backend_start) = $2`;

/** A write that changes nothing. When this write is durable, every earlier commit is durable. */
const WRITE = "SELECT pg_logical_emit_message(true, 'assize', '')";
