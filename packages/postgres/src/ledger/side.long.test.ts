import { sideStoreSuite } from '@assize/testing/internal/side-store-suite.ts';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Loss, Relay, withPostgres } from '../../../../tests/support/postgres/index.ts';
import { openPostgres, type PostgresStore } from '../index.ts';

const insert = { kind: 'k', key: 'a', expected: null, body: '1' };

withPostgres('side rows', (postgres) => {
  sideStoreSuite({ name: 'postgres', open: (place) => openPostgres({ url: postgres.url(place) }) });

  let relay: Relay;
  beforeAll(async () => {
    relay = await Relay.start(postgres.server.port);
  });
  afterAll(() => relay.stop());

  async function openAt(url: string): Promise<PostgresStore> {
    const store = await openPostgres({ url });
    onTestFinished(() => store.close());
    return store;
  }

  /** A store that reaches the server through the relay, and one that reaches it directly. */
  async function bothWays(): Promise<{ near: PostgresStore; far: PostgresStore; url: string }> {
    const url = postgres.url();
    const through = new URL(url);
    through.port = String(relay.port);
    return { near: await openAt(url), far: await openAt(through.href), url };
  }

  test.each<Loss>(['before', 'torn', 'answered'])(
    'a put whose connection is lost %s is written once',
    async (loss) => {
      const { near, far } = await bothWays();
      for (const [expected, body] of [
        [null, '1'],
        ['there', '2'],
        ['there', null],
      ] as const) {
        const row = await near.sideGet('k', 'a');
        const lost = relay.lose(loss, 'assize put side');
        const put = far.sidePut([
          { ...insert, expected: expected === null ? null : row!.version, body },
        ]);
        await lost;
        expect(await put).toBe(true);
        expect((await near.sideGet('k', 'a'))?.body).toBe(body ?? undefined);
      }
    },
  );

  test('a put that is sent again while its first attempt runs is written once', async () => {
    const { near, far, url } = await bothWays();
    await near.sidePut([insert]);
    const { version } = (await near.sideGet('k', 'a'))!;
    const schema = postgres.schemaOf(url);
    const waiting = (): Promise<unknown[]> =>
      postgres.query(
        "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1",
        [`%"${schema}"%`],
      );
    const held = postgres.query(
      `BEGIN; SELECT FROM "${schema}".side FOR UPDATE; SELECT pg_sleep(1.5); COMMIT`,
    );
    while (
      (await postgres.query("SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'")).length ===
      0
    );
    const lost = relay.lose('under way', 'assize put side');
    const put = far.sidePut([{ ...insert, expected: version, body: null }]);
    await lost;
    while ((await waiting()).length < 1);
    await held;
    expect(await put).toBe(true);
    expect(await near.sideGet('k', 'a')).toBeUndefined();
  });

  test.each(['read committed', 'repeatable read', 'serializable'])(
    'one of two puts on one version is written, %s',
    async (isolation) => {
      const place = postgres.url();
      const options = encodeURIComponent(
        `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`,
      );
      const stores = await Promise.all([1, 2, 3].map(() => openAt(`${place}&options=${options}`)));
      for (let round = 0; round < 20; round += 1) {
        const row = await stores[0]!.sideGet('k', 'a');
        const change = {
          ...insert,
          expected: row?.version ?? null,
          body: round % 3 === 2 ? null : `${round}`,
        };
        const written = await Promise.all(stores.map((store) => store.sidePut([change])));
        expect(written.filter(Boolean)).toEqual([true]);
      }
    },
  );

  test('receipts of earlier puts are removed after an hour', async () => {
    const { near, url } = await bothWays();
    const table = `"${postgres.schemaOf(url)}".side_receipt`;
    await near.sidePut([insert]);
    await postgres.query(`UPDATE ${table} SET at = at - interval '2 hours'`);
    await near.sidePut([{ ...insert, key: 'b' }]);
    expect(await postgres.query(`SELECT FROM ${table}`)).toHaveLength(1);
    // A put that is not written leaves none.
    expect(await near.sidePut([insert])).toBe(false);
    expect(await postgres.query(`SELECT FROM ${table}`)).toHaveLength(1);
  });

  test('a retired store writes no side row', async () => {
    const { near } = await bothWays();
    await near.retire({ at: '2026-03-01T00:00:00.000000Z', reason: 'moved' });
    await expect(near.sidePut([insert])).rejects.toMatchObject({ code: 'store_retired' });
  });
});
