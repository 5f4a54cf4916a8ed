import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { openStore, type Store, type StoreOptions } from '#stores';
import { type TestPostgres, type WithPostgresOptions, withPostgres } from '../postgres/index.ts';
import { suite } from '../suites.ts';
import { LastingMemory } from './lasting-memory.ts';
import { openUnguarded } from './unguarded.ts';

/** Where one store is: opened again, it has what was committed there. */
export interface Place {
  /** Closed after the test. A store in memory has no options. */
  open(options?: StoreOptions): Promise<Store>;
  /** As for `openStore`. */
  readonly url: string;
  /** Runs statements with all rights there, past the store. Not for a store in memory. */
  sql(...statements: readonly string[]): Promise<void>;
  /**
   * All bytes of the store's files, the write-ahead log included, one character each. On a server,
   * all tables. Not for a store in memory.
   */
  everything(): Promise<string>;
}

/** One kind of store, for tests that hold on every one. */
export interface Stores {
  readonly kind: 'memory' | 'sqlite' | 'postgres';
  newPlace(): Place;
}

/** Stores in a database that another process may also access. */
export interface Databases extends Stores {
  readonly kind: 'sqlite' | 'postgres';
}

/**
 * The same tests for every kind of store. Tests with PostgreSQL are skipped, with the reason, if
 * there is no server.
 */
export function onEveryStore(tests: (stores: Stores) => void, options?: WithPostgresOptions): void {
  describeLocally('memory', () => {
    tests({
      kind: 'memory',
      newPlace: () => {
        const store = new LastingMemory();
        const sql = (): never => {
          throw new Error('nobody but its process has a hand on a store in memory');
        };
        return { open: async () => store, url: 'memory:', sql, everything: sql };
      },
    });
  });
  onEveryDatabase(tests, options);
}

/** The same tests for SQLite and PostgreSQL. */
export function onEveryDatabase(
  tests: (stores: Databases) => void,
  options?: WithPostgresOptions,
): void {
  describeLocally('SQLite', () => tests({ kind: 'sqlite', newPlace: sqlitePlaces() }));
  withPostgres(
    'PostgreSQL',
    (postgres) => {
      const close = closedAfterEach();
      tests({ kind: 'postgres', newPlace: () => postgresPlace(postgres, postgres.url(), close) });
    },
    options,
  );
}

/** The fast suite runs the local part of `x.postgres.test.ts`. The slow suite leaves it out. */
function describeLocally(kind: string, tests: () => void): void {
  const isInFastSuite = /\.postgres\.test\.ts$/.test(expect.getState().testPath ?? '');
  if (suite() !== 'slow' || !isInFastSuite) describe(kind, tests);
}

/** Tests of local stores only: the behaviour on a server is the same, and only takes longer. */
export function nearBy({ kind }: Stores): typeof test {
  if (kind !== 'postgres') return test;
  const none = Object.assign(() => undefined, { each: () => () => undefined });
  return none as unknown as typeof test;
}

/** A place on a server, or behind a relay to it that has another port. */
export function postgresPlace(
  postgres: TestPostgres,
  url: string,
  close: (store: Store) => Store,
): Place {
  return {
    open: async (options = {}) => close(await openStore(url, options)),
    url,
    sql: async (...statements) => {
      const path = `SET search_path TO "${postgres.schemaOf(url)}"`;
      await postgres.query([path, ...statements].join(';\n'));
    },
    everything: () => tablesOf(postgres, url),
  };
}

/** All tables of a store as text. */
export async function tablesOf(postgres: TestPostgres, url: string): Promise<string> {
  const tables = await postgres.query(
    "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = $1",
    [postgres.schemaOf(url)],
  );
  const rows = tables.map(({ name }) => postgres.query(`SELECT t::text FROM ${name} AS t`));
  return JSON.stringify(await Promise.all(rows));
}

/** Places in files; to be called where tests are declared. */
export function sqlitePlaces(): () => Place {
  const folder = mkdtempSync(join(tmpdir(), 'assize-places-'));
  const close = closedAfterEach();
  let count = 0;
  afterAll(() => rmSync(folder, { recursive: true }));
  return () => {
    const name = `${++count}.db`;
    const path = join(folder, name);
    return {
      open: async (options = {}) => close(await openStore(`sqlite:${path}`, options)),
      url: `sqlite:${path}`,
      sql: async (...statements) => {
        const db = openUnguarded(path);
        try {
          for (const statement of statements) db.exec(statement);
        } finally {
          db.close();
        }
      },
      everything: async () => {
        const files = readdirSync(folder).filter((file) => file.startsWith(name));
        return files.map((file) => readFileSync(join(folder, file)).toString('latin1')).join('');
      },
    };
  };
}

/** Registers stores that are closed after the test. Call this where tests are declared. */
export function closedAfterEach(): (store: Store) => Store {
  const opened: Store[] = [];
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });
  return (store) => {
    opened.push(store);
    return store;
  };
}
