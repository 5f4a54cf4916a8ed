import { batchOf, chainOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import { openStore } from 'assize/internal/stores';
import { expect, test } from 'vitest';
import { Relay, withPostgres } from '../../../../tests/support/postgres/index.ts';
import { openPostgres, type StoreEvent } from '../index.ts';

/** Stores the received events, and waits for more. */
class Ear {
  readonly heard: StoreEvent[] = [];
  #more: () => void = () => undefined;

  readonly listen = (news: StoreEvent): void => {
    this.heard.push(news);
    this.#more();
  };

  async until(enough: (heard: readonly StoreEvent[]) => boolean): Promise<void> {
    while (!enough(this.heard)) await new Promise<void>((resolve) => (this.#more = resolve));
  }
}

const appended = (trajectory_id: string, seq: number): StoreEvent => ({
  kind: 'appended',
  trajectory_id,
  seq,
});

withPostgres(
  'following',
  (postgres) => {
    test('a follower is notified of foreign commits, once a trajectory in a group', async () => {
      const url = postgres.url();
      const [writer, reader] = [
        await openPostgres({ url }),
        await openPostgres({ url, mode: 'readonly' }),
      ];
      const ear = new Ear();
      const stop = await reader.follow(ear.listen);
      const chain = chainOf('t', 5);
      await Promise.all(chain.map((row) => writer.commit(batchOf(row))));
      const odd = 'a name: \u2028 "quoted"\n\u{1f600}';
      await writer.commit(batchOf([entryAfter(undefined, odd), entryAfter(undefined, '')]));
      await ear.until((heard) => heard.length === 3);
      expect(ear.heard[0]).toEqual(appended('t', 4));
      expect(new Set(ear.heard.slice(1))).toEqual(new Set([appended(odd, 0), appended('', 0)]));
      expect(await reader.head('t')).toEqual(chain[4]);
      await stop();
      await writer.commit(batchOf(entryAfter(chain[4], 't')));
      await writer.follow(ear.listen);
      await writer.commit(batchOf(entryAfter(undefined, 'own')));
      await ear.until((heard) => heard.length === 4);
      expect(ear.heard[3]).toEqual(appended('own', 0));
      await writer.close();
      await reader.close();
    });

    test('no follower is notified after it asked to stop', async () => {
      const url = postgres.url();
      const [writer, reader] = [
        await openPostgres({ url }),
        await openPostgres({ url, mode: 'readonly' }),
      ];
      for (const row of chainOf('t', 30)) {
        const ear = new Ear();
        const stop = await reader.follow(ear.listen);
        await writer.commit(batchOf(row));
        const stopped = stop();
        const { length } = ear.heard;
        await stopped;
        expect(ear.heard).toHaveLength(length);
      }
      await writer.close();
      await reader.close();
    });

    test('a follower is notified of no uncommitted entry, and of no other store', async () => {
      const [url, other] = [postgres.url(), postgres.url()];
      const [store, elsewhere] = [await openPostgres({ url }), await openPostgres({ url: other })];
      const root = entryAfter(undefined, 't');
      await store.commit(batchOf(root));
      const ear = new Ear();
      await store.follow(ear.listen);
      expect(await store.commit(batchOf(entryAfter(undefined, 't', 'rival')))).toMatchObject({
        status: 'conflict',
      });
      await elsewhere.commit(batchOf(entryAfter(undefined, 'elsewhere')));
      await store.oraclePut({ key: root.id, answer: '1', at: 'now' });
      await store.commit(batchOf(entryAfter(root, 't')));
      await ear.until((heard) => heard.length > 0);
      expect(ear.heard).toEqual([appended('t', 1)]);
      await store.close();
      await elsewhere.close();
    });

    test('a name too long for a notification is reported as a missed event', async () => {
      const store = await openPostgres({ url: postgres.url() });
      const ear = new Ear();
      await store.follow(ear.listen);
      expect(await store.commit(batchOf(entryAfter(undefined, 'ü'.repeat(4_000))))).toEqual({
        status: 'committed',
      });
      await ear.until((heard) => heard.length > 0);
      expect(ear.heard).toEqual([{ kind: 'missed' }]);
      await store.close();
    });

    test('a busy writer notifies at intervals, and after its last commit', async () => {
      const url = postgres.url();
      const [writer, reader] = [
        await openPostgres({ url }),
        await openPostgres({ url, mode: 'readonly' }),
      ];
      const ear = new Ear();
      await reader.follow(ear.listen);
      const chain = chainOf('t', 300);
      for (const row of chain.slice(0, -1)) await writer.commit(batchOf(row));
      const before = ear.heard.length;
      await writer.commit(batchOf(chain.at(-1)!));
      await ear.until((heard) => heard.length > before && heard.at(-1)?.kind === 'missed');
      expect(ear.heard.length).toBeLessThan(250);
      await writer.close();
      await reader.close();
    });

    test('a store that does not tell', async () => {
      const url = postgres.url();
      const [quiet, store] = [
        await openPostgres({ url, notify: false }),
        await openPostgres({ url }),
      ];
      const ear = new Ear();
      await store.follow(ear.listen);
      const [first, second] = chainOf('t', 2);
      await quiet.commit(batchOf(first!));
      await store.commit(batchOf(second!));
      await ear.until((heard) => heard.length > 0);
      expect(ear.heard).toEqual([appended('t', 1)]);
      await quiet.close();
      await store.close();
    });

    test('a follower with a lost connection reports a possible gap, and continues', async () => {
      const relay = await Relay.start(postgres.server.port);
      const url = postgres.url();
      const through = new URL(url);
      through.port = String(relay.port);
      const [writer, store] = [
        await openPostgres({ url }),
        await openPostgres({ url: through.href }),
      ];
      const [ear, other] = [new Ear(), new Ear()];
      await store.follow(ear.listen);
      const stop = await store.follow(other.listen);
      const chain = chainOf('t', 3);
      relay.isClosed = true;
      relay.cut();
      await stop();
      await writer.commit(batchOf(chain[0]!));
      relay.isClosed = false;
      await ear.until((heard) => heard.length === 1);
      expect(await store.head('t')).toEqual(chain[0]);
      await writer.commit(batchOf(chain[1]!));
      await ear.until((heard) => heard.length === 2);
      await postgres.server.stop('immediate');
      await postgres.server.start();
      await ear.until((heard) => heard.length === 3);
      await writer.commit(batchOf(chain[2]!));
      await ear.until((heard) => heard.length === 4);
      expect(ear.heard).toEqual([
        { kind: 'missed' },
        appended('t', 1),
        { kind: 'missed' },
        appended('t', 2),
      ]);
      expect(other.heard).toEqual([]);
      await store.close();
      await writer.close();
      await relay.stop();
    });

    test('stores that can not be followed', async () => {
      const store = await openPostgres({ url: postgres.url(), connectAttempts: 1 });
      await postgres.server.stop();
      await expect(store.follow(() => undefined)).rejects.toMatchObject({
        code: 'store_unreachable',
      });
      await postgres.server.start();
      await store.close();
      await expect(store.follow(() => undefined)).rejects.toMatchObject({ code: 'store_closed' });
      expect((await openStore('memory:')).follow).toBeUndefined();
    });
  },
  { own: true },
);
