import { Socket } from 'node:net';
import { ConnectionLost, storeError } from '../errors.ts';
import type { Driver, DriverClient, Notification, Row } from './driver.ts';

/** The options of every connection of a store. */
export interface SessionOptions {
  readonly driver: Driver;
  readonly url: string;
  /** Names the store in errors. */
  readonly path: string;
  readonly applicationName: string;
  readonly connectTimeoutMs: number;
  readonly lockTimeoutMs: number;
  readonly statementTimeoutMs: number;
}

/** The role of a server when the connection was opened. */
export interface ServerRole {
  /** Whether the server replays another server's log. */
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
  /** Raised by each promotion. Undefined at a standby. */
  readonly timeline: number | undefined;
}

/** A statement for the server. A named statement is planned once per connection. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

/**
 * The time beyond the server's own limit after which a connection without an answer counts as dead.
 */
const GRACE_MS = 2_000;

/** The maximum time for the orderly end of a connection. */
const END_TIMEOUT_MS = 2_000;

/**
 * The time after which the operating system probes an idle connection, to detect a server that is
 * gone.
 */
const KEEP_ALIVE_MS = 10_000;

/**
 * One connection, from its opening to its end.
 *
 * After the first statement the connection keeps the process alive only while it waits for an
 * answer. It runs one statement at a time. Callers must order their statements, because the driver
 * no longer queues them.
 */
export class Session {
  readonly #client: DriverClient;
  readonly #socket: Socket;
  readonly #patienceMs: number;
  #role: ServerRole | undefined;
  #end: unknown;
  #hasFailedToWrite = false;
  #isAsked = false;
  #whenEnded: () => void = () => undefined;

  private constructor(client: DriverClient, socket: Socket, patienceMs: number) {
    this.#client = client;
    this.#socket = socket;
    this.#patienceMs = patienceMs;
    // A statement reaches the system in one write. The last bytes of the write make the server
    // commit. Under TLS there are other writes.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.#hasFailedToWrite = error.syscall === 'write' && !client.ssl;
    });
    client.on('error', (error) => this.#ended(error));
    client.on('end', () => this.#ended(new Error('the server closed the connection')));
  }

  /** @throws {StoreError} with the reason, if no connection can be opened */
  static async open(options: SessionOptions): Promise<Session> {
    // A separate socket, because the driver waits for a farewell that a dead server never sends.
    const socket = new Socket();
    const client = newClient(options, socket);
    const session = new Session(client, socket, options.statementTimeoutMs + GRACE_MS);
    try {
      await client.connect();
      session.#role = roleIn(await session.run({ text: SET }));
    } catch (error) {
      socket.destroy();
      throw storeError(error, options.path, 'Connecting to');
    }
    return session;
  }

  get isOpen(): boolean {
    return this.#end === undefined;
  }

  get role(): ServerRole {
    return this.#role!;
  }

  /** The reason why the connection has ended; undefined while it is open. */
  get endedBy(): unknown {
    return this.#end;
  }

  /** Registers a listener that is called once, when the connection ends for any reason. */
  onEnd(listener: () => void): void {
    if (this.isOpen) this.#whenEnded = listener;
    else listener();
  }

  onNotification(listener: (notification: Notification) => void): void {
    this.#client.on('notification', listener);
  }

  /**
   * @throws the server's error, after which the connection stays usable and the statement is rolled
   *   back.
   * @throws {ConnectionLost} when the connection has ended.
   */
  async run(statement: Statement, values: unknown[] = []): Promise<Row[]> {
    if (this.#isAsked)
      throw new Error('the connection received a statement before it had answered the last one');
    this.#isAsked = true;
    let isAnswered = false;
    const giveUp = (): void => {
      if (!isAnswered) this.#cut(new Error('the server did not answer in time'));
    };
    // In an immediate, to receive an answer that arrived while this process was busy.
    const timer = setTimeout(() => setImmediate(giveUp), this.#patienceMs);
    this.#socket.ref();
    try {
      return (await this.#client.query({ ...statement, values, rowMode: 'array' })).rows;
    } catch (error) {
      // Read before another statement is sent.
      const wasSent = !this.#hasFailedToWrite;
      if (await this.#goesOn()) throw error;
      throw new ConnectionLost(this.#end ?? error, wasSent);
    } finally {
      isAnswered = true;
      this.#isAsked = false;
      clearTimeout(timer);
      this.#socket.unref();
    }
  }

  async end(): Promise<void> {
    if (!this.isOpen) return;
    this.#socket.ref();
    const timer = setTimeout(
      () => this.#cut(new Error('the server did not close the connection in time')),
      END_TIMEOUT_MS,
    );
    await this.#client.end();
    clearTimeout(timer);
  }

  /**
   * Whether the server answers after an error. The server reports the severity of an error only in
   * its configured language.
   */
  async #goesOn(): Promise<boolean> {
    try {
      await this.#client.query({ text: '', rowMode: 'array' });
      return this.isOpen;
    } catch (error) {
      this.#cut(error);
      return false;
    }
  }

  /** Ends the connection immediately. Its statement, if any, has an unknown outcome. */
  cut(why: Error): void {
    this.#cut(why);
  }

  #cut(why: unknown): void {
    this.#ended(why);
    this.#socket.destroy();
  }

  #ended(why: unknown): void {
    if (!this.isOpen) return;
    this.#end = why;
    this.#whenEnded();
  }
}

// Settings that servers, databases and roles can change, and that the statements here depend on.
// They cover the text form of strings, hashes and lists, the search path and the isolation level.
// They also disable the timeouts that would end idle connections. They are not startup parameters,
// because poolers refuse those. `transaction_timeout` exists from PostgreSQL 17 on.
// The first eight digits of the current file of the log are the timeline.
const SET = `
SELECT pg_catalog.set_config(s.name, s.value, false), pg_catalog.pg_is_in_recovery(),
  pg_catalog.current_setting('transaction_read_only'),
  CASE WHEN NOT pg_catalog.pg_is_in_recovery()
    THEN pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8) END
FROM (VALUES ('array_nulls', 'on'), ('bytea_output', 'hex'), ('client_encoding', 'UTF8'), ('DateStyle', 'ISO'),
  ('default_transaction_isolation', 'read committed'), ('extra_float_digits', '1'), ('gin_fuzzy_search_limit', '0'),
  ('idle_in_transaction_session_timeout', '0'), ('idle_session_timeout', '0'), ('quote_all_identifiers', 'off'),
  ('search_path', 'pg_catalog, pg_temp'), ('standard_conforming_strings', 'on'), ('TimeZone', 'UTC'), ('transaction_timeout', '0'),
  ('transform_null_equals', 'off')) AS s (name, value)
WHERE pg_catalog.current_setting(s.name, true) IS NOT NULL`;

function roleIn([row]: readonly Row[]): ServerRole {
  const [, standby, readonly, timeline] = row!;
  return {
    isStandby: standby === 't',
    isReadOnly: readonly === 'on',
    timeline: timeline === null ? undefined : Number.parseInt(timeline!, 16),
  };
}

/** A driver's client that is not connected yet. */
export function newClient(options: SessionOptions, socket: Socket = new Socket()): DriverClient {
  return new options.driver.Client({
    connectionString: options.url,
    application_name: options.applicationName,
    statement_timeout: options.statementTimeoutMs,
    // 0 would disable the limit.
    lock_timeout: Math.max(1, options.lockTimeoutMs),
    connectionTimeoutMillis: options.connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    // Values as the server writes them, regardless of the parsers that the program has set for all
    // users of the driver.
    types: { getTypeParser: () => (text) => text },
    stream: () => socket,
  });
}
