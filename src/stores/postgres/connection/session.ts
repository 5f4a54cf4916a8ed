import { Socket } from 'node:net';
import { ConnectionLost, storeError } from '../errors.ts';
import type { Driver, DriverClient, Notification, Row } from './driver.ts';

/** What every connection of a store is opened with. */
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

/** What the server is asked. With a name it is planned once a connection. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

/** How much longer than the server's own limit an answer may take before the connection counts as dead. */
const GRACE_MS = 2_000;

/** How long a parting may take. */
const END_TIMEOUT_MS = 2_000;

/** Idle connections are asked after this by the operating system, so that a server that is gone is noticed. */
const KEEP_ALIVE_MS = 10_000;

/**
 * One connection, from its opening to its end. Once it was asked something, it keeps the process alive only while it waits for
 * an answer. One question at a time: who asks another one before has not kept an order of its own, and the driver would do that for it no longer.
 */
export class Session {
  readonly #client: DriverClient;
  readonly #socket: Socket;
  readonly #patienceMs: number;
  #end: unknown;
  #hasFailedToWrite = false;
  #isAsked = false;
  #whenEnded: () => void = () => undefined;

  private constructor(client: DriverClient, socket: Socket, patienceMs: number) {
    this.#client = client;
    this.#socket = socket;
    this.#patienceMs = patienceMs;
    // A statement goes to the system in one write, whose last bytes tell the server to commit. Under TLS there are others.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.#hasFailedToWrite = error.syscall === 'write' && !client.ssl;
    });
    client.on('error', (error) => this.#ended(error));
    client.on('end', () => this.#ended(new Error('the server has closed the connection')));
  }

  /** @throws {StoreError} that says why there is none */
  static async open(options: SessionOptions): Promise<Session> {
    // Our own socket, because the driver waits for a parting that a dead server never sends.
    const socket = new Socket();
    const client = newClient(options, socket);
    const session = new Session(client, socket, options.statementTimeoutMs + GRACE_MS);
    try {
      await client.connect();
      await session.run({ text: SET });
    } catch (error) {
      socket.destroy();
      throw storeError(error, options.path, 'Connecting to');
    }
    return session;
  }

  get isOpen(): boolean {
    return this.#end === undefined;
  }

  /** Why it has ended; undefined while it is open. */
  get endedBy(): unknown {
    return this.#end;
  }

  /** Called once, when the connection ends for whatever reason. */
  onEnd(listener: () => void): void {
    if (this.isOpen) this.#whenEnded = listener;
    else listener();
  }

  onNotification(listener: (notification: Notification) => void): void {
    this.#client.on('notification', listener);
  }

  /**
   * @throws the server's error, after which it goes on and nothing of the statement is left.
   * @throws {ConnectionLost} when it does not go on.
   */
  async run(statement: Statement, values: unknown[] = []): Promise<Row[]> {
    if (this.#isAsked) throw new Error('a connection was asked something before it had answered');
    this.#isAsked = true;
    let isAnswered = false;
    const giveUp = (): void => {
      if (!isAnswered) this.#cut(new Error('the server did not answer in time'));
    };
    // In an immediate, so that an answer is heard that came while this process was busy with something else.
    const timer = setTimeout(() => setImmediate(giveUp), this.#patienceMs);
    this.#socket.ref();
    try {
      return (await this.#client.query({ ...statement, values, rowMode: 'array' })).rows;
    } catch (error) {
      // Looked at before anything else is sent.
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
    const timer = setTimeout(() => this.#cut(new Error('the server did not part in time')), END_TIMEOUT_MS);
    await this.#client.end();
    clearTimeout(timer);
  }

  /** Whether the server answers after an error. How grave one is it says only in the language that it is set to. */
  async #goesOn(): Promise<boolean> {
    try {
      await this.#client.query({ text: '', rowMode: 'array' });
      return this.isOpen;
    } catch (error) {
      this.#cut(error);
      return false;
    }
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

// What servers, databases and roles may have otherwise, and statements here rest on: how texts, hashes and lists are read and written, where
// functions are looked for, what a statement sees, and that nobody is sent away while he waits for what others say. Not in what the
// connection begins with, since poolers refuse that. `transaction_timeout` is there from PostgreSQL 17 on.
const SET = `
SELECT pg_catalog.set_config(s.name, s.value, false)
FROM (VALUES ('array_nulls', 'on'), ('bytea_output', 'hex'), ('client_encoding', 'UTF8'), ('DateStyle', 'ISO'),
  ('default_transaction_isolation', 'read committed'), ('extra_float_digits', '1'), ('gin_fuzzy_search_limit', '0'),
  ('idle_in_transaction_session_timeout', '0'), ('idle_session_timeout', '0'), ('quote_all_identifiers', 'off'),
  ('search_path', 'pg_catalog, pg_temp'), ('standard_conforming_strings', 'on'), ('TimeZone', 'UTC'), ('transaction_timeout', '0'),
  ('transform_null_equals', 'off')) AS s (name, value)
WHERE pg_catalog.current_setting(s.name, true) IS NOT NULL`;

/** A client of the driver that is not connected yet. */
export function newClient(options: SessionOptions, socket: Socket = new Socket()): DriverClient {
  return new options.driver.Client({
    connectionString: options.url,
    application_name: options.applicationName,
    statement_timeout: options.statementTimeoutMs,
    // 0 would be none.
    lock_timeout: Math.max(1, options.lockTimeoutMs),
    connectionTimeoutMillis: options.connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    // Values as the server writes them, whatever parsers the program has set for all users of the driver.
    types: { getTypeParser: () => (text) => text },
    stream: () => socket,
  });
}
