import { batchOf, chainOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import { type EntryRow, integrateLog } from 'assize/internal/ledger';
import type { PostgresOptions } from 'assize/internal/stores/postgres-options.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { PostgresServer, withPostgres } from '../../../tests/support/postgres/index.ts';
import { openPostgres, type PostgresStore } from './index.ts';

const NAME = 'failover-test';

withPostgres(
  'a primary with a standby',
  () => {
    let primary: PostgresServer;
    let standby: PostgresServer;
    const opened: PostgresStore[] = [];

    async function start(): Promise<void> {
      primary = await PostgresServer.start();
      standby = await PostgresServer.standbyOf(primary);
    }

    const remove = () => Promise.all([primary.remove(), standby.remove()]);

    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });

    async function open(options: Partial<PostgresOptions> = {}): Promise<PostgresStore> {
      const limits = { statementTimeoutMs: 1_000, connectTimeoutMs: 1_000, applicationName: NAME };
      const store = await openPostgres({ url: both(), ...limits, ...options });
      opened.push(store);
      return store;
    }

    const both = (parameters = ''): string =>
      `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres${parameters}`;

    const promote = () => standby.query('SELECT pg_promote(true, 60)');

    /** The number of connections of the stores under test. */
    const connectionsAt = async (server: PostgresServer): Promise<number> =>
      (await server.query(`SELECT FROM pg_stat_activity WHERE application_name = '${NAME}'`))
        .length;

    /** Ends the connections of the stores under test. */
    const disconnect = (server: PostgresServer) =>
      server.query(
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = '${NAME}'`,
      );

    /** The standby has all that the primary has. */
    async function caughtUp(): Promise<void> {
      const [at] = await primary.query('SELECT pg_current_wal_insert_lsn() AS lsn');
      const done = `SELECT pg_last_wal_replay_lsn() >= '${at!['lsn']}' AS done`;
      await vi.waitUntil(async () => (await standby.query(done))[0]!['done'], { timeout: 60_000 });
    }

    describe('after a promotion', () => {
      beforeEach(start);
      afterEach(remove);

      /** Commits wait for the standby from now on. */
      async function synchronous(): Promise<void> {
        await primary.query(
          "ALTER SYSTEM SET synchronous_standby_names = 'standby'",
          'SELECT pg_reload_conf()',
        );
        const inSync = "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'";
        await expect.poll(() => primary.query(inSync)).toHaveLength(1);
      }

      /** Appends entries one by one until `isOver`. Returns those that were committed. */
      async function append(store: PostgresStore, isOver: () => boolean): Promise<EntryRow[]> {
        const answered: EntryRow[] = [];
        while (!isOver()) {
          const row = entryAfter(answered.at(-1), 't');
          const { status } = await store
            .commit(batchOf(row))
            .catch(() => ({ status: 'unreachable' }));
          if (status === 'committed' || (status === 'unknown' && (await isFound(store, row))))
            answered.push(row);
        }
        return answered;
      }

      async function isFound(store: PostgresStore, { id }: EntryRow): Promise<boolean> {
        for (;;) {
          // It fails until the standby is promoted.
          const found = await store.resolve(id).catch(() => 'unreachable' as const);
          if (found !== 'unreachable') return found !== undefined;
        }
      }

      const seqOf = async (store: PostgresStore): Promise<number> =>
        (await store.head('t').catch(() => undefined))?.seq ?? 0;

      test.each(['killed', 'frozen'])(
        'every answered commit is there: the primary is %s',
        async (how) => {
          await synchronous();
          const store = await open();
          let isOver = false;
          const appending = append(store, () => isOver);
          await expect.poll(() => seqOf(store)).toBeGreaterThan(50);
          if (how === 'killed') await primary.stop('killed');
          else primary.freeze();
          await standby.query(
            'SELECT pg_promote(true, 60)',
            'ALTER SYSTEM RESET synchronous_standby_names',
          );
          await standby.query('SELECT pg_reload_conf()');
          const [last] = await standby.query('SELECT max(seq)::int AS seq FROM assize.entry');
          await expect.poll(() => seqOf(store)).toBeGreaterThan(last!['seq'] + 20);
          isOver = true;
          const answered = await appending;
          expect(await store.entries('t', { limit: 100_000 })).toEqual(answered);
          if (how === 'frozen') primary.thaw();
        },
      );

      test('the old primary is not written to, although it still accepts writes', async () => {
        const store = await open({ connectAttempts: 3 });
        const rows = chainOf('t', 3);
        await store.commit(batchOf(rows[0]!));
        await caughtUp();
        await promote();
        await disconnect(primary);
        expect(await store.commit(batchOf(rows[1]!))).toEqual({ status: 'committed' });
        expect(await connectionsAt(primary)).toBe(0);
        expect(await primary.query('SELECT FROM assize.entry')).toHaveLength(1);
        const later = await open();
        expect(await later.head('t')).toEqual(rows[1]);
        await standby.stop('fast');
        const refused = store.commit(batchOf(rows[2]!));
        await expect(refused).rejects.toMatchObject({
          code: 'store_unreachable',
          retryable: true,
          message: expect.stringMatching(
            /target_session_attrs=read-write.*is an old primary: its timeline is 1.* to 2/s,
          ),
        });
      });

      test('connections to the old primary end with the first one to the new', async () => {
        const store = await open();
        await store.commit(batchOf(chainOf('t', 2)));
        const stop = await store.follow(() => undefined);
        await store.head('t');
        await caughtUp();
        await promote();
        expect(await connectionsAt(primary)).toBe(3);
        const pid = `SELECT pid FROM pg_stat_activity WHERE application_name = '${NAME}' AND query LIKE 'LISTEN%'`;
        await primary.query(`SELECT pg_terminate_backend(pid, 5000) FROM (${pid}) AS listener`);
        await expect.poll(() => connectionsAt(primary)).toBe(0);
        await expect.poll(() => connectionsAt(standby)).toBeGreaterThan(0);
        await stop();
      });
    });

    describe('a promoted standby that lacks an answered write is not written to', () => {
      beforeEach(start);
      afterEach(remove);

      /** The store after `write` (only the primary has it) and after the promotion. */
      async function afterLoss(
        write: (store: PostgresStore) => Promise<unknown>,
      ): Promise<PostgresStore> {
        const store = await open();
        await store.commit(batchOf(chainOf('t', 3)));
        await caughtUp();
        await standby.stop('fast');
        await write(store);
        await primary.stop('killed');
        await standby.start();
        await promote();
        return store;
      }

      test('an entry', async () => {
        const row = entryAfter(undefined, 'u');
        const store = await afterLoss((before) => before.commit(batchOf(row)));
        await expect(store.commit(batchOf(entryAfter(row, 'u')))).rejects.toMatchObject({
          code: 'store_rewound',
          retryable: false,
          evidence: { id: row.id },
        });
        expect(await standby.query('SELECT FROM assize.entry')).toHaveLength(3);
      });

      test('a position of the log', async () => {
        const store = await afterLoss((before) => integrateLog(before));
        await expect(store.commit(batchOf(entryAfter(undefined, 'u')))).rejects.toMatchObject({
          code: 'store_rewound',
          evidence: { index: 2 },
        });
      });

      test('a store that promises no durability goes on', async () => {
        const rows = chainOf('u', 2);
        const store = await open({ durability: 'normal' });
        await caughtUp();
        await standby.stop('fast');
        await store.commit(batchOf(rows[0]!));
        await primary.stop('killed');
        await standby.start();
        await promote();
        expect(await store.commit(batchOf(rows[0]!))).toEqual({ status: 'committed' });
      });
    });

    describe('reading', () => {
      const reader = (target: string) =>
        open({ url: both(`?target_session_attrs=${target}`), mode: 'readonly' });

      beforeAll(async () => {
        await start();
        const store = await open();
        await store.commit(batchOf(chainOf('t', 3)));
        await store.close();
        await caughtUp();
      });
      afterAll(remove);

      test.each(['standby', 'prefer-standby', 'read-only'])(
        '%s reads at the standby',
        async (target) => {
          const store = await reader(target);
          expect(await store.entries('t')).toHaveLength(3);
          expect(await Promise.all([connectionsAt(primary), connectionsAt(standby)])).toEqual([
            0, 1,
          ]);
        },
      );

      test.each(['any', 'primary', 'read-write'])('%s reads at the primary', async (target) => {
        const store = await reader(target);
        expect(await store.entries('t')).toHaveLength(3);
        expect(await Promise.all([connectionsAt(primary), connectionsAt(standby)])).toEqual([1, 0]);
      });

      test('a store that writes refuses to open at a standby', async () => {
        await expect(open({ url: both('?target_session_attrs=standby') })).rejects.toMatchObject({
          code: 'store_readonly',
        });
      });

      test('prefer-standby reads at the primary where no standby runs', async () => {
        await standby.stop('fast');
        expect(await (await reader('prefer-standby')).entries('t')).toHaveLength(3);
        await expect(reader('standby')).rejects.toMatchObject({
          code: 'store_unreachable',
          retryable: true,
          message: expect.stringMatching(/target_session_attrs=standby now.*is the primary/s),
        });
      });
    });
  },
  { own: true },
);
