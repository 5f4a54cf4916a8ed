import { batchOf, blobOf, chainOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import { isAssizeError } from 'assize/internal/base';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Loss, Relay, withPostgres } from '../../../tests/support/postgres/index.ts';
import { openPostgres, type PostgresOptions, type PostgresStore } from './index.ts';

withPostgres(
  'faults',
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

    /** A store behind the relay, with one entry. */
    async function newStore(
      options: Partial<PostgresOptions> = {},
    ): Promise<{ store: PostgresStore; url: string }> {
      const url = postgres.url();
      const through = new URL(url);
      through.port = String(relay.port);
      // Created without the options, because a short limit must not apply to the creation.
      await (await openPostgres({ url })).close();
      const patient = { lockTimeoutMs: 60_000, statementTimeoutMs: 60_000 };
      const store = await openPostgres({ url: through.href, ...patient, ...options });
      opened.push(store);
      await store.commit(batchOf(entryAfter(undefined, 't')));
      return { store, url };
    }

    /**
     * Runs statements of another program in a transaction that stays open until the returned
     * function is called.
     */
    async function holding(url: string, statement: string): Promise<() => Promise<void>> {
      const lock = `lock ${postgres.schemaOf(url)}`;
      const text = `SET search_path TO "${postgres.schemaOf(url)}"; SET application_name TO '${lock}'; BEGIN; ${statement};
        SELECT pg_sleep(60)`;
      const held = postgres.query(text).catch((error: { code?: string }) => error.code);
      const state =
        "SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event = 'PgSleep'";
      while ((await postgres.query(state, [lock])).length === 0);
      return async () => {
        await postgres.query(
          'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = $1',
          [lock],
        );
        expect(await held).toBe('57P01');
      };
    }

    /** Waits until a number of the store's connections wait for a lock. */
    async function waitingForLock(count = 1): Promise<void> {
      const text =
        "SELECT FROM pg_stat_activity WHERE application_name = 'assize' AND wait_event_type = 'Lock'";
      while ((await postgres.query(text)).length < count);
    }

    describe('a commit with a lost connection is unknown; resolve finds its outcome', () => {
      test.each<[Loss, boolean]>([
        ['before', false],
        ['torn', false],
        ['answered', true],
      ])('%s', async (loss, written) => {
        const { store } = await newStore();
        const head = (await store.head('t'))!;
        const [row, u] = [entryAfter(head, 't'), entryAfter(undefined, 'u')];
        const blob = blobOf(loss);
        const lost = relay.lose(loss);
        const results = Promise.all([store.commit(batchOf(row, [blob])), store.commit(batchOf(u))]);
        await lost;
        const later = store.commit(batchOf(entryAfter(undefined, 'v')));
        for (const result of await results) {
          expect(result).toMatchObject({
            status: 'unknown',
            cause: { code: 'store_unreachable', retryable: true },
          });
        }
        expect(await store.resolve(row.id)).toEqual(written ? row : undefined);
        expect(await store.resolve(u.id)).toEqual(written ? u : undefined);
        expect(await store.blob(blob.hash)).toBe(written ? blob.text : undefined);
        expect(await later).toEqual({ status: 'committed' });
        expect(await store.commit(batchOf(row))).toMatchObject({
          status: written ? 'conflict' : 'committed',
        });
        expect(await store.entries('t')).toEqual([head, row]);
      });

      test('under way: resolve ensures that the server does not apply it later', async () => {
        const { store, url } = await newStore();
        const head = (await store.head('t'))!;
        const row = entryAfter(head, 't');
        const release = await holding(url, 'LOCK TABLE blob');
        const lost = relay.lose('under way');
        const result = store.commit(batchOf(row, [blobOf('b')]));
        await lost;
        expect(await result).toMatchObject({ status: 'unknown' });
        await waitingForLock();
        expect(await store.resolve(row.id)).toBeUndefined();
        await release();
        expect(await store.resolve(row.id)).toBeUndefined();
        const rival = entryAfter(head, 't', 'rival');
        expect(await store.commit(batchOf(rival))).toEqual({ status: 'committed' });
        expect(await store.entries('t')).toEqual([head, rival]);
      });

      test('silence: a server that does not answer in time is abandoned', async () => {
        const { store } = await newStore({ statementTimeoutMs: 1_000 });
        const row = entryAfter((await store.head('t'))!, 't');
        void relay.lose('silence');
        expect(await store.commit(batchOf(row))).toMatchObject({ status: 'unknown' });
        expect(await store.resolve(row.id)).toEqual(row);
      });

      test('and while the server stays away, resolve does not pretend to know', async () => {
        const { store } = await newStore({ connectAttempts: 2 });
        const row = entryAfter((await store.head('t'))!, 't');
        const lost = relay.lose('answered');
        const result = store.commit(batchOf(row));
        await lost;
        relay.isClosed = true;
        relay.cut();
        expect(await result).toMatchObject({ status: 'unknown' });
        await expect(store.resolve(row.id)).rejects.toMatchObject({
          code: 'store_unreachable',
          retryable: true,
        });
        relay.isClosed = false;
        expect(await store.resolve(row.id)).toEqual(row);
      });
    });

    describe('calls that are safe to repeat are repeated', () => {
      test.each<Loss>(['before', 'torn', 'answered'])('answers of the oracle, %s', async (loss) => {
        const { store } = await newStore();
        const row = { key: 'a'.repeat(64), answer: '1', at: 'now' };
        void relay.lose(loss);
        expect(await store.oraclePut(row)).toEqual(row);
        expect(await store.oraclePut({ ...row, answer: '2' })).toEqual(row);
      });

      test.each<Loss>(['before', 'torn', 'answered'])('blobs without entries, %s', async (loss) => {
        const { store } = await newStore();
        const blob = blobOf(`blob ${loss}`);
        void relay.lose(loss);
        expect(await store.commit(batchOf([], [blob]))).toEqual({ status: 'committed' });
        expect(await store.blob(blob.hash)).toBe(blob.text);
      });

      test('an unsent commit, if the next connection is lost immediately', async () => {
        const { store } = await newStore();
        relay.cut();
        const row = entryAfter((await store.head('t'))!, 't');
        // The first statement on each writing connection.
        const lost = relay.lose('before', 'default_transaction_isolation');
        const commit = store.commit(batchOf(row));
        await lost;
        expect(await commit).toEqual({ status: 'committed' });
      });

      test('reads', async () => {
        const { store, url } = await newStore({ readers: 2 });
        const release = await holding(url, 'LOCK TABLE entry');
        const reads = Array.from({ length: 5 }, () => store.head('t'));
        await waitingForLock(2);
        relay.cut();
        await waitingForLock(2);
        await release();
        expect(new Set((await Promise.all(reads)).map((row) => row?.seq))).toEqual(new Set([0]));
      });
    });

    describe('a server that goes away', () => {
      test('connections that broke while idle are replaced, and nothing is unknown', async () => {
        const { store } = await newStore();
        for (const row of chainOf('u', 5)) {
          relay.cut();
          expect(await store.commit(batchOf(row))).toEqual({ status: 'committed' });
          relay.cut();
          expect(await store.head('u')).toEqual(row);
        }
      });

      test('a backend that is terminated while it does nothing, and while it writes', async () => {
        const { store, url } = await newStore();
        const end =
          "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'assize'";
        await postgres.query(end);
        const row = entryAfter((await store.head('t'))!, 't');
        expect(await store.commit(batchOf(row))).toEqual({ status: 'committed' });
        const release = await holding(url, 'LOCK TABLE blob');
        const next = entryAfter(row, 't');
        const writing = store.commit(batchOf(next, [blobOf('b')]));
        await waitingForLock();
        const waiting = store.commit(batchOf(entryAfter(undefined, 'u')));
        await postgres.query(end);
        expect(await writing).toMatchObject({
          status: 'unknown',
          cause: { code: 'store_unreachable' },
        });
        expect(await waiting).toEqual({ status: 'committed' });
        expect(await store.resolve(next.id)).toBeUndefined();
        await release();
        expect(await store.commit(batchOf(next))).toEqual({ status: 'committed' });
      });

      test('a restart between two commits', async () => {
        const { store } = await newStore();
        const chain = chainOf('u', 2);
        await store.commit(batchOf(chain[0]!));
        await postgres.server.stop();
        await postgres.server.start();
        expect(await store.commit(batchOf(chain[1]!))).toEqual({ status: 'committed' });
        expect(await store.entries('u')).toEqual(chain);
      });

      test('calls during its restart wait for it', async () => {
        const { store } = await newStore();
        const chain = chainOf('u', 3);
        await postgres.server.stop();
        const commits = chain.map((row) => store.commit(batchOf(row)));
        const head = store.head('t');
        await postgres.server.start();
        for (const commit of commits) expect(await commit).toEqual({ status: 'committed' });
        expect(await head).toMatchObject({ seq: 0 });
      });

      test('a long absence fails waiting calls unwritten, and the store recovers', async () => {
        const { store } = await newStore({ connectAttempts: 2, readers: 2 });
        const chain = chainOf('u', 3);
        await postgres.server.stop();
        const calls = [
          ...chain.map((row) => store.commit(batchOf(row))),
          ...chain.map(() => store.head('t')),
        ];
        for (const call of await Promise.allSettled(calls)) {
          expect(call).toMatchObject({ reason: { code: 'store_unreachable', retryable: true } });
        }
        await postgres.server.start();
        expect(await store.head('u')).toBeUndefined();
        expect(await store.commit(batchOf(chain))).toEqual({ status: 'committed' });
      });

      test('close ends also when it is away', async () => {
        const { store } = await newStore({ connectAttempts: 1 });
        await postgres.server.stop();
        const commit = store.commit(batchOf(entryAfter(undefined, 'u')));
        const closed = store.close();
        await expect(commit).rejects.toMatchObject({ code: 'store_unreachable' });
        await closed;
        await postgres.server.start();
      });

      test('no answered entry is lost when it crashes, and none is torn', async () => {
        const { store } = await newStore();
        const [committed, unknown] = [new Set<string>(), new Set<string>()];
        let isOver = false;
        let sent = 0;
        const append = async (name: string): Promise<void> => {
          const first = entryAfter(await store.head(name), name, ++sent);
          const blob = blobOf(`${first.id}${'.'.repeat(6_000)}`);
          const { status } = await store.commit(batchOf([first, entryAfter(first, name)], [blob]));
          if (status === 'committed') committed.add(first.id);
          if (status === 'unknown') unknown.add(first.id);
        };
        // On a busy machine the restart of the server can exceed the wait of a call. Nothing was
        // written in that case.
        const appendOn = async (name: string): Promise<void> => {
          while (!isOver) {
            await append(name).catch((error: unknown) => {
              if (!isAssizeError(error, 'store_unreachable')) throw error;
            });
          }
        };
        const writers = ['a', 'b', 'c'].map(appendOn);
        for (let round = 0; round < 3; round += 1) {
          const target = committed.size + 20;
          while (committed.size < target) await new Promise((resolve) => setTimeout(resolve, 5));
          await postgres.server.stop('immediate');
          await postgres.server.start();
        }
        isOver = true;
        await Promise.all(writers);
        for (const name of ['a', 'b', 'c']) {
          const rows = await store.entries(name, { limit: 100_000 });
          expect(rows.map(({ seq, parent }) => ({ seq, parent }))).toEqual(
            rows.map((_, seq) => ({ seq, parent: rows[seq - 1]?.id ?? null })),
          );
          expect(rows.length % 2).toBe(0);
          for (const { id } of rows.filter(({ seq }) => seq % 2 === 0)) {
            expect(committed.delete(id) || unknown.delete(id)).toBe(true);
            expect(await store.blob(blobOf(`${id}${'.'.repeat(6_000)}`).hash)).toHaveLength(6_064);
          }
        }
        expect([...committed]).toEqual([]);
        for (const id of unknown) expect(await store.resolve(id)).toBeUndefined();
      });
    });

    describe('refusals of the server', () => {
      /** Makes inserts of entries fail. With `first`, only that number of inserts fails. */
      async function refuse(
        url: string,
        state: string,
        first = Number.MAX_SAFE_INTEGER,
      ): Promise<() => Promise<unknown>> {
        const path = `SET search_path TO "${postgres.schemaOf(url)}"`;
        // A sequence also counts inserts that are rolled back.
        await postgres.query(`${path}; CREATE SEQUENCE refused;
          CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN
            IF nextval('refused') <= ${first} THEN RAISE EXCEPTION 'refused' USING ERRCODE = '${state}'; END IF;
            RETURN NULL; END $$;
          CREATE TRIGGER refuse AFTER INSERT ON entry EXECUTE FUNCTION refuse()`);
        return () =>
          postgres.query(
            `${path}; DROP TRIGGER refuse ON entry; DROP FUNCTION refuse; DROP SEQUENCE refused`,
          );
      }

      test.each([
        ['53100', 'store_failed', true],
        ['53200', 'store_failed', true],
        ['25006', 'store_readonly', false],
        ['42501', 'store_failed', false],
        ['XX001', 'store_corrupt', false],
        ['22000', 'store_failed', false],
      ])(
        '%s fails with nothing written, and the store continues',
        async (state, code, retryable) => {
          const { store, url } = await newStore();
          const [row, blob] = [entryAfter(await store.head('t'), 't'), blobOf(state)];
          const allow = await refuse(url, state);
          const commits = [
            store.commit(batchOf(row, [blob])),
            store.commit(batchOf(entryAfter(undefined, 'u'))),
          ];
          for (const commit of await Promise.allSettled(commits)) {
            expect(commit).toMatchObject({
              reason: { code, retryable, evidence: { sqlstate: state } },
            });
          }
          expect(await store.resolve(row.id)).toBeUndefined();
          expect(await store.blob(blob.hash)).toBeUndefined();
          await allow();
          expect(await store.commit(batchOf(row, [blob]))).toEqual({ status: 'committed' });
        },
      );

      test.each(['40001', '40P01'])('%s is sent again, and no one hears of it', async (state) => {
        const { store, url } = await newStore();
        await refuse(url, state, 3);
        const row = entryAfter(await store.head('t'), 't');
        expect(await store.commit(batchOf(row))).toEqual({ status: 'committed' });
      });

      test('a table that another client locks for too long', async () => {
        const { store, url } = await newStore({ lockTimeoutMs: 100 });
        const row = entryAfter(await store.head('t'), 't');
        const release = await holding(url, 'LOCK TABLE entry');
        const commits = [store.commit(batchOf(row)), store.commit(batchOf(entryAfter(row, 't')))];
        for (const commit of await Promise.allSettled(commits)) {
          expect(commit).toMatchObject({ reason: { code: 'store_locked', retryable: true } });
        }
        await expect(store.head('t')).rejects.toMatchObject({
          code: 'store_locked',
          retryable: true,
        });
        await expect(
          openPostgres({ url, lockTimeoutMs: 50 }).then((other) => other.head('t')),
        ).rejects.toMatchObject({
          code: 'store_locked',
        });
        await release();
        expect(await store.commit(batchOf(row))).toEqual({ status: 'committed' });
      });

      test('a statement that takes too long', async () => {
        const { store, url } = await newStore({ statementTimeoutMs: 1_000 });
        const row = entryAfter(await store.head('t'), 't');
        const release = await holding(url, 'LOCK TABLE entry');
        await expect(store.commit(batchOf(row))).rejects.toMatchObject({
          evidence: { sqlstate: '57014' },
        });
        await expect(store.head('t')).rejects.toMatchObject({
          code: 'store_failed',
          retryable: true,
        });
        await release();
        expect(await store.commit(batchOf(row))).toEqual({ status: 'committed' });
      });
    });
  },
  { own: true },
);
