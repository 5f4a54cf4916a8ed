import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { suite } from '../suites.ts';
import { whyNoServer } from './binaries.ts';
import { PostgresServer, type ServerOptions } from './server.ts';

/** A database that tests may fill with schemas. */
export interface TestPostgres {
  /**
   * The URL of that place's store, in its own schema. Without a place, the URL of a store
   * that no test has used.
   */
  url(place?: string): string;
  /** The schema in a URL. */
  schemaOf(url: string): string;
  /** Runs statements with every right; the rows of the last one. */
  query(text: string, values?: unknown[]): Promise<Record<string, any>[]>;
  /** The server itself, where it was started for this file. */
  readonly server: PostgresServer;
}

export interface WithPostgresOptions extends ServerOptions {
  /**
   * For tests that stop or change the server: they may not use the server that ASSIZE_TEST_PG
   * names.
   */
  readonly own?: boolean;
}

/**
 * Tests with a server that starts before the first test and is removed after the last test. Without
 * a server they are skipped, with the reason. They fail on a deprecated use of the driver. The fast
 * suite does not have them.
 */
export function withPostgres(
  title: string,
  tests: (postgres: TestPostgres) => void,
  { own = false, ...options }: WithPostgresOptions = {},
): void {
  if (suite() === 'fast') return;
  const given = own ? undefined : process.env['ASSIZE_TEST_PG'];
  const reason = given === undefined ? whyNoServer() : undefined;
  const database = new TestDatabase(given, options);
  describe.skipIf(reason !== undefined)(
    reason === undefined ? title : `${title} (${reason})`,
    () => {
      const deprecated: Error[] = [];
      const note = (warning: Error): void => {
        if (warning.name === 'DeprecationWarning') deprecated.push(warning);
      };
      beforeAll(() => {
        process.on('warning', note);
        return database.start();
      });
      afterAll(async () => {
        await database.stop();
        process.off('warning', note);
        expect(deprecated).toEqual([]);
      });
      tests(database);
    },
  );
}

class TestDatabase implements TestPostgres {
  readonly #given: string | undefined;
  readonly #options: ServerOptions;
  /** Not the name of anything else, also where several runs share a server. */
  readonly #prefix = `assize_test_${randomBytes(4).toString('hex')}`;
  readonly #schemas = new Map<string, string>();
  #count = 0;
  #server: PostgresServer | undefined;

  constructor(given: string | undefined, options: ServerOptions) {
    this.#given = given;
    this.#options = options;
  }

  async start(): Promise<void> {
    if (this.#given === undefined) this.#server = await PostgresServer.start(this.#options);
  }

  async stop(): Promise<void> {
    if (this.#server !== undefined) return this.#server.remove();
    const rows = await this.query(
      'SELECT nspname FROM pg_namespace WHERE starts_with(nspname, $1)',
      [this.#prefix],
    );
    for (const { nspname } of rows) await this.query(`DROP SCHEMA "${nspname}" CASCADE`);
  }

  get server(): PostgresServer {
    if (this.#server === undefined) throw new Error('this server was not started here');
    return this.#server;
  }

  url(place = ''): string {
    const schema = (place !== '' && this.#schemas.get(place)) || `${this.#prefix}_${++this.#count}`;
    this.#schemas.set(place, schema);
    return `${this.#base}${this.#base.includes('?') ? '&' : '?'}schema=${schema}`;
  }

  schemaOf(url: string): string {
    return new URL(url).searchParams.get('schema')!;
  }

  async query(text: string, values?: unknown[]): Promise<Record<string, any>[]> {
    const client = new Client({ connectionString: this.#base });
    await client.connect();
    try {
      const result = await client.query(text, values);
      return [result].flat().at(-1)!.rows;
    } finally {
      await client.end();
    }
  }

  get #base(): string {
    return this.#given ?? `postgres://postgres@127.0.0.1:${this.server.port}/postgres`;
  }
}
