import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import type { TestPostgres } from '../../../../tests/support/postgres/index.ts';
import { Steps } from '../../../../tests/support/tools/effect-sink.ts';
import {
  EFFECTS_TABLE,
  type SqlConnection,
  type SqlDatabase,
  type SqlRow,
} from '../../src/sql/index.ts';

// Real databases that outlive processes, with two views. A process sees a database through its
// connections, and may end at each of its statements. An outside observer inspects every step.

/**
 * The outcome of the next commits. `fail`: refused. `lose`: executed, and the connection ends with
 * the answer.
 */
export type CommitFault = 'none' | 'fail' | 'lose';

/** The data that an outside reader sees, in one read snapshot. */
export interface Seen {
  /** The written values, in order. */
  readonly log: readonly string[];
  /** Keys that stand, and are not undone. */
  readonly keys: number;
}

export interface StagedDatabase extends AsyncDisposable {
  /**
   * The database as one process has it. When the process ends, its connections end and uncommitted
   * writes are lost.
   */
  of(steps?: Steps, stagedTimeoutMs?: number): SqlDatabase;
  look(): Promise<Seen>;
  commits: CommitFault[];
  /** How often something was rolled back. */
  rollbacks: number;
  /** Runs a statement as an outside session. */
  run(text: string): Promise<readonly SqlRow[]>;
  /** As it was at first, for another world. */
  reset(): Promise<void>;
}

const EMPTY = ['DELETE FROM log', 'DELETE FROM assize_effects'] as const;

/** The initial tables. A write of a negative size is refused. */
const SETUP = `CREATE TABLE log (n INTEGER PRIMARY KEY, what TEXT NOT NULL, size INTEGER NOT NULL CHECK (size >= 0));
${EFFECTS_TABLE};`;
const LOOK = `SELECT n AS n, what AS what FROM log
  UNION ALL SELECT 0 AS n, key AS what FROM assize_effects WHERE undone = 0 ORDER BY n`;

function seenIn(rows: readonly SqlRow[]): Seen {
  const log = rows.filter(({ n }) => Number(n) > 0).map(({ what }) => String(what));
  return { log, keys: rows.length - log.length };
}

/** A connection with a step before and after each of its calls. */
function stepped(
  { query, begin, commit, rollback, close }: Required<SqlConnection>,
  {
    steps,
    stage,
    end,
  }: { readonly steps: Steps; readonly stage: StagedDatabase; end(): Promise<void> },
): SqlConnection {
  const around = async <T>(make: () => T | Promise<T>): Promise<T> => {
    await steps.step();
    const made = await make();
    await steps.step();
    return made;
  };
  return {
    query: (text, values) => around(() => query(text, values)),
    begin: () => around(() => begin()),
    commit: () =>
      around(async () => {
        const fault = stage.commits.shift() ?? 'none';
        if (fault === 'fail') throw new Error('the disk is full');
        await commit();
        if (fault !== 'lose') return;
        await end();
        throw new Error('the connection has ended');
      }),
    rollback: () =>
      around(async () => {
        await rollback();
        stage.rollbacks++;
      }),
    close: (isBroken) => close(isBroken),
  };
}

/** A SQLite file, with one connection per process and one for the observer. */
export class SqliteStage implements StagedDatabase {
  commits: CommitFault[] = [];
  rollbacks = 0;
  readonly #folder = mkdtempSync(join(tmpdir(), 'assize-sql-'));
  readonly #file = join(this.#folder, 'bank.db');
  readonly #outside = new DatabaseSync(this.#file);
  readonly #open = new Set<DatabaseSync>();

  constructor() {
    this.#outside.exec(`PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL; ${SETUP}`);
  }

  of(steps = new Steps(), stagedTimeoutMs?: number): SqlDatabase {
    let database: DatabaseSync | undefined;
    const end = async (): Promise<void> => {
      if (database !== undefined) this.#close(database);
      database = undefined;
    };
    void steps.ended.then(end);
    const here = (): DatabaseSync => {
      if (database === undefined) throw new Error('the connection has ended');
      return database;
    };
    const connection: Required<SqlConnection> = {
      query: (text, values) =>
        here()
          .prepare(text)
          .all(...(values as never[])) as never,
      begin: () => here().exec('BEGIN IMMEDIATE'),
      commit: () => here().exec('COMMIT'),
      rollback: () => (here().isTransaction ? here().exec('ROLLBACK') : undefined),
      close: (isBroken) => (isBroken ? end() : undefined),
    };
    const made = stepped(connection, { steps, stage: this, end });
    return {
      writers: 'one',
      ...(stagedTimeoutMs === undefined ? {} : { stagedTimeoutMs }),
      connect: () => {
        database ??= this.#opened();
        return made;
      },
    };
  }

  async look(): Promise<Seen> {
    return seenIn(this.#outside.prepare(LOOK).all());
  }

  async run(text: string): Promise<readonly SqlRow[]> {
    return this.#outside.prepare(text).all() as SqlRow[];
  }

  async reset(): Promise<void> {
    this.commits = [];
    for (const database of [...this.#open]) this.#close(database);
    for (const text of EMPTY) await this.run(text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const database of [...this.#open]) this.#close(database);
    this.#outside.close();
    rmSync(this.#folder, { recursive: true });
  }

  #opened(): DatabaseSync {
    const database = new DatabaseSync(this.#file, { timeout: 0 });
    database.exec('PRAGMA synchronous = OFF');
    this.#open.add(database);
    return database;
  }

  #close(database: DatabaseSync): void {
    this.#open.delete(database);
    database.close();
  }
}

/** A schema of a PostgreSQL server, with one connection for each `connect` call. */
export class PostgresStage implements StagedDatabase {
  commits: CommitFault[] = [];
  rollbacks = 0;
  readonly #url: string;
  readonly #schema: string;
  readonly #clients = new Set<Client>();
  /** The idle connections. */
  readonly #idle: Client[] = [];
  #outside!: Client;

  private constructor(url: string, schema: string) {
    this.#url = url;
    this.#schema = schema;
  }

  static async open(postgres: TestPostgres): Promise<PostgresStage> {
    const url = postgres.url();
    const stage = new PostgresStage(url.replace(/[?&]schema=[^&]*/, ''), postgres.schemaOf(url));
    await postgres.query(`CREATE SCHEMA "${stage.#schema}"`);
    stage.#outside = await stage.#client();
    await stage.#outside.query(SETUP.replace('INTEGER PRIMARY KEY', 'SERIAL PRIMARY KEY'));
    return stage;
  }

  of(steps = new Steps(), stagedTimeoutMs?: number): SqlDatabase {
    return {
      placeholders: '$1',
      ...(stagedTimeoutMs === undefined ? {} : { stagedTimeoutMs }),
      connect: async () => {
        const client = this.#idle.pop() ?? (await this.#client());
        let isOver = false;
        const end = (): Promise<void> => {
          isOver = true;
          return this.#close(client);
        };
        void steps.ended.then(() => (isOver ? undefined : end()));
        const connection: Required<SqlConnection> = {
          query: async (text, values) => (await client.query(text, [...values])).rows as SqlRow[],
          begin: () => client.query('BEGIN'),
          commit: () => client.query('COMMIT'),
          rollback: () => client.query('ROLLBACK'),
          close: (isBroken) => {
            if (isBroken && !isOver) return end();
            if (!isOver) this.#idle.push(client);
            isOver = true;
          },
        };
        return stepped(connection, { steps, stage: this, end });
      },
    };
  }

  async look(): Promise<Seen> {
    return seenIn((await this.#outside.query(LOOK)).rows);
  }

  async run(text: string): Promise<readonly SqlRow[]> {
    return (await this.#outside.query(text)).rows;
  }

  async reset(): Promise<void> {
    this.commits = [];
    for (const text of EMPTY) await this.run(text);
    await this.run('ALTER SEQUENCE log_n_seq RESTART');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#clients].map((client) => this.#close(client)));
  }

  async #client(): Promise<Client> {
    const client = new Client({
      connectionString: this.#url,
      options: `-c search_path=${this.#schema}`,
    });
    // An ended client emits an error.
    client.on('error', () => undefined);
    await client.connect();
    this.#clients.add(client);
    return client;
  }

  async #close(client: Client): Promise<void> {
    this.#clients.delete(client);
    await client.end().catch(() => undefined);
  }
}

/** The steps of a process, with an observer at each step. */
export class WatchedSteps extends Steps {
  readonly #look: () => Promise<void>;

  constructor(endAt: number | undefined, look: () => Promise<void>) {
    super(endAt);
    this.#look = look;
  }

  override async step(): Promise<void> {
    if (!this.isDead) await this.#look();
    await super.step();
  }
}
