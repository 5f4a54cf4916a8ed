import { snapshotStoreSuite } from '@assize/testing/internal/snapshot-store-suite.ts';
import { batchOf, blobOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import { Client } from 'pg';
import { describe, expect, test } from 'vitest';
import { withPostgres } from '../../../../tests/support/postgres/index.ts';
import { openPostgres, type PostgresStore } from '../index.ts';

withPostgres('snapshots', (postgres) => {
  snapshotStoreSuite({
    name: 'postgres',
    open: (place) => openPostgres({ url: postgres.url(place) }),
  });

  // The store must not depend on the server's default isolation level.
  describe.each(['read committed', 'repeatable read', 'serializable'])(
    'beside an erasure, %s',
    (isolation) => {
      const root = entryAfter(undefined, 't');
      const secret = blobOf('secret');
      const erasure = { ...batchOf([]), erased: [{ hash: secret.hash, by: root.id }] };
      const before = { trajectory_id: 't', seq: 0, hash: secret.hash, text: 'with the secret' };

      /**
       * Two processes. The transaction of one has changed snapshots, but is not committed when the
       * other one starts. It commits as soon as the other one waits or has ended.
       */
      async function overlapped(
        event: 'INSERT' | 'DELETE',
        first: (store: PostgresStore) => Promise<unknown>,
        second: (store: PostgresStore) => Promise<unknown>,
      ): Promise<PostgresStore[]> {
        const place = postgres.url();
        const name = postgres.schemaOf(place);
        const options = encodeURIComponent(
          `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`,
        );
        const url = `${place}&options=${options}`;
        const stores = [
          await openPostgres({ url, applicationName: name }),
          await openPostgres({ url, applicationName: name }),
        ];
        await stores[0]!.commit(batchOf(root, [secret]));
        await postgres.query(`SET search_path TO "${name}";
        CREATE FUNCTION pass() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          PERFORM pg_advisory_xact_lock_shared(hashtext('${name}')); RETURN NULL; END $$;
        CREATE TRIGGER gate AFTER ${event} ON snapshot FOR EACH STATEMENT EXECUTE FUNCTION "${name}".pass()`);
        const gate = new Client({ connectionString: place });
        await gate.connect();
        /** Resolves when `count` statements wait, or when a step ends that should wait. */
        const waits = async (count: number, step: Promise<unknown>): Promise<void> => {
          let hasEnded = false;
          step.finally(() => (hasEnded = true)).catch(() => undefined);
          const text =
            "SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'";
          while (!hasEnded && ((await gate.query(text, [name])).rowCount as number) < count);
        };
        await gate.query('SELECT pg_advisory_lock(hashtext($1))', [name]);
        const one = first(stores[0]!);
        await waits(1, one);
        const other = second(stores[1]!);
        await waits(2, other);
        await gate.end();
        await Promise.all([one, other]);
        return stores;
      }

      async function expectGone(stores: readonly PostgresStore[]): Promise<void> {
        const [store] = stores as [PostgresStore];
        expect(await store.snapshot('t')).toBeUndefined();
        expect([await store.erasures(), await store.blob(secret.hash)]).toEqual([1, undefined]);
        const after = { ...before, text: 'without it' };
        await store.putSnapshot(after, 1);
        expect(await store.snapshot('t')).toEqual(after);
        await Promise.all(stores.map((each) => each.close()));
      }

      test('a snapshot that is being put when it comes is gone after it', async () => {
        const put = (store: PostgresStore) => store.putSnapshot(before, 0);
        const erase = async (store: PostgresStore) =>
          expect(await store.commit(erasure)).toEqual({ status: 'committed' });
        await expectGone(await overlapped('INSERT', put, erase));
      });

      test('a snapshot of before that comes when it is being made is not put', async () => {
        const erase = async (store: PostgresStore) =>
          expect(await store.commit(erasure)).toEqual({ status: 'committed' });
        const put = (store: PostgresStore) => store.putSnapshot(before, 0);
        await expectGone(await overlapped('DELETE', erase, put));
      });
    },
  );
});
