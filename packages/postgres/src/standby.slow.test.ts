import { batchOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Relay, withPostgres } from '../../../tests/support/postgres/index.ts';
import { openPostgres, type PostgresStore } from './index.ts';

const WAITS = "SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
const UNREACHABLE = { code: 'store_unreachable', retryable: true };

// A server that must also commit on a standby, while that is away.
withPostgres(
  'a synchronous standby that is away',
  (postgres) => {
    let relay: Relay;
    const opened: PostgresStore[] = [];

    beforeAll(async () => {
      relay = await Relay.start(postgres.server.port);
    });
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });
    afterAll(() => relay.stop());

    async function newStore(): Promise<{ store: PostgresStore; other: PostgresStore }> {
      const url = postgres.url();
      const other = await openPostgres({ url });
      const through = new URL(url);
      through.port = String(relay.port);
      const store = await openPostgres({
        url: through.href,
        statementTimeoutMs: 1_000,
        connectAttempts: 1,
      });
      opened.push(store, other);
      return { store, other };
    }

    /** Resolves when commits wait for the standby. */
    async function away(): Promise<void> {
      await postgres.query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
      await postgres.query('SELECT pg_reload_conf()');
      while (!(await isWaitedFor()));
    }

    async function isWaitedFor(): Promise<boolean> {
      const client = new Client({
        host: '127.0.0.1',
        port: postgres.server.port,
        user: 'postgres',
        database: 'postgres',
      });
      // An ended probe reports an error. The test ignores it.
      client.on('error', () => undefined);
      await client.connect();
      let isOver = false;
      const over = client
        .query("SELECT pg_logical_emit_message(true, 'probe', '')")
        .catch(() => undefined);
      void over.then(() => (isOver = true));
      const ended = `SELECT pg_terminate_backend(pid, 5000) ${WAITS.slice('SELECT '.length)}`;
      let waited = 0;
      while (!isOver && waited === 0) waited = (await postgres.query(ended)).length;
      await over;
      await client.end();
      return waited > 0;
    }

    /** Equivalent to the return of the standby: commits no longer wait for it. */
    async function back(): Promise<void> {
      await postgres.query('ALTER SYSTEM RESET synchronous_standby_names');
      await postgres.query('SELECT pg_reload_conf()');
    }

    /** Commits, and loses the connection while the commit waits for the standby. */
    async function lostCommit(store: PostgresStore) {
      const row = entryAfter(undefined, 't');
      const lost = relay.lose('under way');
      const commit = store.commit(batchOf(row));
      await lost;
      expect(await commit).toMatchObject({ status: 'unknown', cause: UNREACHABLE });
      while ((await postgres.query(`${WAITS} AND query LIKE '%append%'`)).length === 0);
      return row;
    }

    test('a commit waiting for the standby stays undecided after a lost connection', async () => {
      const { store, other } = await newStore();
      await away();
      const row = await lostCommit(store);
      await expect(store.resolve(row.id)).rejects.toMatchObject(UNREACHABLE);
      expect(await postgres.query(`${WAITS} AND query LIKE '%append%'`)).toHaveLength(1);
      // Readers do not see data that may still be lost.
      expect(await other.head('t')).toBeUndefined();
      await back();
      while ((await postgres.query(WAITS)).length > 0);
      expect(await store.resolve(row.id)).toEqual(row);
    });

    test('a commit known to a crashed server is found once the standby has it', async () => {
      const { store } = await newStore();
      await away();
      const row = await lostCommit(store);
      await postgres.server.stop('immediate');
      await postgres.server.start();
      // Twice, because the first request still waits at the server.
      for (const _ of [1, 2])
        await expect(store.resolve(row.id)).rejects.toMatchObject(UNREACHABLE);
      await back();
      expect(await store.resolve(row.id)).toEqual(row);
      expect(await store.commit(batchOf(entryAfter(row, 't')))).toEqual({ status: 'committed' });
      expect(await postgres.query(WAITS)).toEqual([]);
    });
  },
  { own: true },
);
