import { loggedOf, writeOf } from '@assize/testing/internal/effect-rows.ts';
import { exportFacts } from '@assize/testing/internal/fact-model.ts';
import {
  ALICE,
  changeOf,
  contentOf,
  day,
  keyOfRow,
  namesOf,
} from '@assize/testing/internal/fact-rows.ts';
import { factStoreSuite } from '@assize/testing/internal/fact-store-suite.ts';
import { batchOf, blobOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import type { FactWrite } from 'assize/internal/ledger';
import { OPEN_START } from 'assize/internal/memory';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import {
  type Loss,
  Relay,
  untilOneWaits,
  untilWait,
  withPostgres,
} from '../../../../tests/support/postgres/index.ts';
import { roundTripsOf } from '../../../../tests/support/postgres/round-trips.ts';
import { openPostgres, type PostgresStore } from '../index.ts';
import { hashOf } from './fact-plan.ts';

const COMMITTED = { status: 'committed' };
const BOB = { ...ALICE, subject: 'bob' };
const { space } = ALICE;
/** The server accepts invalid rows until the transaction ends. */
const UNGUARDED = 'SET LOCAL session_replication_role = replica';

withPostgres('facts', (postgres) => {
  let relay: Relay;
  beforeAll(async () => {
    relay = await Relay.start(postgres.server.port);
  });
  afterAll(() => relay.stop());

  factStoreSuite({
    name: 'postgres',
    open: (place: string) => openPostgres({ url: postgres.url(place) }),
    runs: cases,
  });

  const openFour = (url: string): Promise<PostgresStore[]> =>
    Promise.all(Array.from({ length: 4 }, () => openPostgres({ url })));

  test('concurrent changes of two partitions, in both orders, each apply once', async () => {
    const stores = await openFour(postgres.url());
    const said: string[] = [];
    const change = async (store: PostgresStore, n: number): Promise<void> => {
      for (let tries = 0; ; tries += 1) {
        const writes = await Promise.all(
          [ALICE, BOB].map(async (partition): Promise<FactWrite> => {
            const state = await store.partition(partition);
            const version = (state?.version ?? 0) + 1;
            const said = [{ fact_id: `${partition.subject} ${n}` }];
            return changeOf(partition, version, 10 + version, said, state?.open.map(keyOfRow));
          }),
        );
        const facts = n % 2 === 0 ? writes : writes.toReversed();
        const { status } = await store.commit({
          ...batchOf(entryAfter(undefined, `t ${n} ${tries}`)),
          facts,
        });
        if (status === 'committed') return void said.push(`alice ${n}`);
        expect(status).toBe('outdated');
      }
    };
    await Promise.all(
      stores.flatMap((store, i) => [0, 1, 2, 3].map((n) => change(store, 4 * i + n))),
    );
    const [store] = stores as [PostgresStore];
    for (const partition of [ALICE, BOB])
      expect(await store.partition(partition)).toMatchObject({ version: 16 });
    const rows = await store.facts({ ...ALICE });
    expect(rows.map(({ fact_id }) => fact_id).toSorted()).toEqual(said.toSorted());
    // Each row ends where the next one starts.
    expect(rows.slice(0, -1).map((row) => row.system_time_end)).toEqual(
      rows.slice(1).map((row) => row.system_time_start),
    );
    expect(await store.trajectories()).toHaveLength(16);
    expect(await store.selfCheck()).toEqual([]);
    for (const each of stores) await each.close();
  });

  test('a change that waited for its partition is checked against the result', async () => {
    const url = postgres.url();
    const store = await openPostgres({ url });
    const several = (fact_id: string) => [{ fact_id, cardinality: 'multi-valued' as const }];
    await store.commit({ ...batchOf([]), facts: [changeOf(ALICE, 1, 10, several('a'))] });
    const base = new URL(url);
    base.searchParams.delete('schema');
    const other = new Client({ connectionString: base.href });
    await other.connect();
    await other.query(`BEGIN; UPDATE "${postgres.schemaOf(url)}".fact_partition SET version = 2`);
    const entry = entryAfter(undefined, 'waits');
    const waits = store.commit({
      ...batchOf(entry),
      facts: [changeOf(ALICE, 2, 20, several('b'))],
    });
    await untilOneWaits(postgres);
    await other.query('COMMIT');
    expect(await waits).toMatchObject({ status: 'outdated' });
    expect(await store.trajectories()).toEqual([]);
    expect(await store.facts({ ...ALICE })).toHaveLength(1);
    await other.end();
    await store.close();
  });

  test('the read set of a change stays locked until its write, even if missing', async () => {
    const url = postgres.url();
    const [store, behind] = [await openPostgres({ url }), await openPostgres({ url })];
    const base = new URL(url);
    base.searchParams.delete('schema');
    const schema = postgres.schemaOf(url);
    const other = new Client({ connectionString: base.href });
    await other.connect();
    const put = (by: PostgresStore, ...facts: FactWrite[]) => by.commit({ ...batchOf([]), facts });
    const reading = (n: number, version: number, at = 10): FactWrite => ({
      ...changeOf({ ...BOB, subject: `${n}` }, 1, at, [{ fact_id: `${n}` }]),
      reads: [{ partition: ALICE, version }],
    });
    // Another transaction has started the partition, and is not committed yet.
    await put(store, changeOf(BOB, 1, 5, []));
    await other.query(`BEGIN; INSERT INTO "${schema}".fact_partition (hash, space_hash, space, subject, predicate, names,
      names_bytes, version, latest, several)
      SELECT decode('${hashOf(ALICE)}', 'hex'), space_hash, space, '${ALICE.subject}', predicate, decode('${namesOf(ALICE).hash}', 'hex'),
        ${namesOf(ALICE).bytes}, 1, latest, several
      FROM "${schema}".fact_partition`);
    const waits = put(store, reading(1, 0));
    await untilOneWaits(postgres);
    await other.query('COMMIT');
    expect(await waits).toMatchObject({ status: 'outdated' });
    // The call locks both an existing and a missing partition, so a concurrent change waits.
    const trigger = `CREATE FUNCTION "${schema}".slowly() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock(77); RETURN NULL; END $$;
      CREATE TRIGGER slowly AFTER INSERT ON "${schema}".fact FOR EACH ROW EXECUTE FUNCTION "${schema}".slowly()`;
    for (const [n, version] of [
      [2, 1],
      [3, 0],
    ] as const) {
      await other.query(
        version === 0
          ? `DELETE FROM "${schema}".fact_partition WHERE subject = '${ALICE.subject}'`
          : '',
      );
      await Promise.all([store, behind].map((each) => each.partition(ALICE)));
      await other.query(`${n === 2 ? trigger : ''}; SELECT pg_advisory_lock(77)`);
      const reads = put(store, reading(n, version, 20 + n));
      await untilOneWaits(postgres);
      let isWritten = false;
      const changes = put(behind, changeOf(ALICE, version + 1, 30 + n, [])).finally(() => {
        isWritten = true;
      });
      await untilWait(postgres, 2);
      expect(isWritten).toBe(false);
      await other.query('SELECT pg_advisory_unlock(77)');
      expect([await reads, await changes]).toEqual([COMMITTED, COMMITTED]);
    }
    expect(await store.partition(ALICE)).toMatchObject({ version: 1 });
    const subjects = await postgres.query(
      `SELECT subject FROM "${schema}".fact_partition ORDER BY subject`,
    );
    expect(subjects.map(({ subject }) => subject)).toEqual(['2', '3', 'alice', 'bob']);
    await other.end();
    for (const each of [store, behind]) await each.close();
  });

  test('of concurrent creations of a partition or fact version one succeeds', async () => {
    const stores = await openFour(postgres.url());
    const put = (store: PostgresStore, change: FactWrite) =>
      store.commit({ ...batchOf([]), facts: [change] }).then(
        ({ status }) => status,
        ({ code }) => code,
      );
    for (let round = 0; round < 5; round += 1) {
      const one = { ...ALICE, subject: `one ${round}` };
      const begun = await Promise.all(
        stores.map((store, n) =>
          put(store, changeOf(one, 1, 10 + n, [{ fact_id: `${round} ${n}` }])),
        ),
      );
      expect(begun.toSorted()).toEqual(['committed', 'outdated', 'outdated', 'outdated']);
      const same = await Promise.all(
        stores.map((store, n) =>
          put(
            store,
            changeOf({ ...ALICE, subject: `${round} ${n}` }, 1, 10, [{ fact_id: `same ${round}` }]),
          ),
        ),
      );
      expect(same.toSorted()).toEqual(['committed', ...Array(3).fill('store_invalid_input')]);
    }
    for (const each of stores) await each.close();
  });

  test('facts asserted during their erasure are erased', async () => {
    const [eraser, ...others] = (await openFour(postgres.url())) as [
      PostgresStore,
      ...PostgresStore[],
    ];
    const secret = contentOf('secret').hash;
    const say = async (store: PostgresStore, who: number): Promise<void> => {
      for (let n = 0; n < 8; n += 1) {
        const partition = { ...ALICE, subject: `${who} ${n % 2}` };
        const version = Math.floor(n / 2) + 1;
        const said = [
          {
            fact_id: `${who} ${n}`,
            object: 'secret',
            valid_from: day(n + 1),
            valid_to: day(n + 2),
          },
        ];
        const { status } = await store.commit({
          ...batchOf([]),
          facts: [changeOf(partition, version, 10 + n, said)],
        });
        expect(['committed', 'outdated']).toContain(status);
      }
    };
    const erase = async (): Promise<void> => {
      const erased = [secret, namesOf({ ...ALICE, subject: '0 0' }).hash].map((hash) => ({
        hash,
        by: blobOf('by').hash,
      }));
      for (const each of erased)
        expect(await eraser.commit({ ...batchOf([]), erased: [each] })).toEqual(COMMITTED);
    };
    await Promise.all([...others.map(say), erase()]);
    const text = (await exportFacts(eraser)).join();
    expect(text).not.toMatch(/"object":"secret"|"subject":"0 0"/);
    expect(text).toContain('$erased');
    await eraser.scrub();
    expect(await eraser.selfCheck()).toEqual([]);
    for (const store of [eraser, ...others]) await store.close();
  });

  test('a fact asserted after an erasure of its names, in one group, has no past', async () => {
    const store = await openPostgres({ url: postgres.url() });
    const put = (change: FactWrite) => store.commit({ ...batchOf([]), facts: [change] });
    const reading = (n: number, version: number): FactWrite => ({
      ...changeOf({ ...BOB, subject: `${n}` }, 1, 10, [{ fact_id: `${n}` }]),
      reads: [{ partition: ALICE, version }],
    });
    expect(await put(changeOf(ALICE, 1, 10, [{ fact_id: 'a' }]))).toEqual(COMMITTED);
    const erased = [{ hash: namesOf(ALICE).hash, by: blobOf('by').hash }];
    const anew = { ...changeOf(ALICE, 1, 30, [{ fact_id: 'b' }]), names: contentOf('other names') };
    const asked = [
      put(reading(1, 1)),
      store.commit({ ...batchOf([]), erased }),
      put(reading(2, 0)),
      put(anew),
    ];
    expect(await Promise.all([...asked, put(reading(3, 1))])).toEqual(Array(5).fill(COMMITTED));
    expect(await store.partition(ALICE)).toMatchObject({ version: 1, open: [{ fact_id: 'b' }] });
    await store.scrub();
    expect(await store.selfCheck()).toEqual([]);
    await store.close();
  });

  test('a fact asserted with the erasure of a space’s last text is found', async () => {
    const store = await openPostgres({ url: postgres.url() });
    const first = changeOf(ALICE, 1, 10, [{ fact_id: 'a', object: 'secret' }]);
    await store.commit({ ...batchOf([]), facts: [first] });
    const facts = [
      changeOf(ALICE, 2, 20, [{ fact_id: 'b', object: 'tea' }], first.insert.map(keyOfRow)),
    ];
    const erased = [{ hash: contentOf('secret').hash, by: blobOf('by').hash }];
    expect(await store.commit({ ...batchOf([]), facts, erased })).toEqual(COMMITTED);
    expect(await store.factsByText({ space: ALICE.space, text: 'tea' })).toMatchObject([
      { fact: { fact_id: 'b' } },
    ]);
    await store.scrub();
    expect(await store.selfCheck()).toEqual([]);
    await store.close();
  });

  test('a write planned on a refused batch conflicts, even if its versions fit', async () => {
    const [store, other] = (await openFour(postgres.url())).slice(0, 2) as [
      PostgresStore,
      PostgresStore,
    ];
    const names = contentOf('other names');
    const theirs = changeOf(ALICE, 1, 10, [{ fact_id: 'theirs' }]);
    expect(await other.commit({ ...batchOf([]), facts: [theirs] })).toEqual(COMMITTED);
    const root = entryAfter(undefined, 't');
    const first = { ...changeOf(ALICE, 1, 10, [{ fact_id: 'mine' }]), names };
    const second = {
      ...changeOf(ALICE, 2, 11, [{ fact_id: 'next' }], first.insert.map(keyOfRow)),
      names,
    };
    // Immediately, and after the answer to the first one.
    for (const wait of [false, true]) {
      const refused = store.commit({ ...batchOf(root), facts: [first] });
      if (wait) await refused;
      const built = store.commit({ ...batchOf(entryAfter(root, 't')), facts: [second] });
      expect([(await refused).status, (await built).status]).toEqual(['outdated', 'conflict']);
    }
    // With the right head, the write is misuse.
    expect(await store.commit(batchOf(root))).toEqual(COMMITTED);
    await expect(
      store.commit({ ...batchOf(entryAfter(root, 't')), facts: [second] }),
    ).rejects.toMatchObject({
      code: 'store_invalid_input',
    });
    expect(await store.facts({ space })).toMatchObject([{ fact_id: 'theirs' }]);
    for (const each of [store, other]) await each.close();
  });

  test('facts and effects are written with one batch, or neither is', async () => {
    const store = await openPostgres({ url: postgres.url() });
    const { fence } = await store.leaseEffects();
    const first = changeOf(ALICE, 1, 10, [{ fact_id: 'a' }]);
    const secret = { hash: first.insert[0]!.content.hash, by: blobOf('by').hash };
    const root = entryAfter(undefined, 't');
    const [before, whole, fenced, outdated] = await Promise.all([
      store.logEffects(writeOf(fence, 1)),
      store.commit({
        ...batchOf(root),
        facts: [first],
        effects: writeOf(fence, 2),
        erased: [secret],
      }),
      store.commit({
        ...batchOf([]),
        facts: [changeOf(BOB, 1, 10, [])],
        effects: writeOf(fence + 1, 3),
      }),
      store.commit({ ...batchOf([]), facts: [first], effects: writeOf(fence, 4) }),
    ]);
    expect([before, whole, fenced, outdated].map(({ status }) => status)).toEqual([
      'written',
      'committed',
      'fenced',
      'outdated',
    ]);
    expect(await store.openEffects()).toEqual([loggedOf(1), loggedOf(2)]);
    expect([await store.partition(BOB), await store.head('t')]).toEqual([undefined, root]);
    expect(await store.facts({ space })).toMatchObject([
      { object: `{"$erased":"${secret.hash}"}` },
    ]);
    await store.close();
  });

  test.each<Loss>(['before', 'torn', 'under way', 'answered'])(
    'rebuilt facts are the same if a connection is lost in the meantime: %s',
    async (loss) => {
      const through = new URL(postgres.url());
      through.port = String(relay.port);
      const store = await openPostgres({ url: through.href });
      const changes = [1, 2, 3].map((version) =>
        changeOf(ALICE, version, 10 + version, [
          { fact_id: `${version}`, valid_from: day(2 * version), valid_to: day(2 * version + 1) },
        ]),
      );
      for (const change of changes) await store.commit({ ...batchOf([]), facts: [change] });
      const before = await exportFacts(store);
      async function* pages() {
        yield changes.slice(0, 1);
        const lost = relay.lose(loss);
        yield changes.slice(1, 2);
        await lost;
        yield changes.slice(2);
      }
      await store.rebuildFacts(pages());
      expect(await exportFacts(store)).toEqual(before);
      await store.close();
    },
  );

  test.each<[Loss, readonly string[]]>([
    ['before', ['committed']],
    ['torn', ['committed']],
    // The server has applied the change before its process ends, or it has not and the change is
    // sent again.
    ['under way', ['unknown', 'committed']],
    ['answered', ['unknown']],
  ])(
    'a change with a lost connection is made once, not outdated by itself: %s',
    async (loss, may) => {
      const through = new URL(postgres.url());
      through.port = String(relay.port);
      const store = await openPostgres({ url: through.href });
      const lost = relay.lose(loss);
      const committing = store.commit({
        ...batchOf([]),
        facts: [changeOf(ALICE, 1, 10, [{ fact_id: 'a' }])],
      });
      await lost;
      expect(may).toContain((await committing).status);
      expect(await store.facts({ space })).toHaveLength(1);
      await store.close();
    },
  );

  describe('the cached state of a partition', () => {
    const put = (store: PostgresStore, ...facts: FactWrite[]) =>
      store.commit({ ...batchOf([]), facts });
    const OUTDATED = { status: 'outdated', partition: ALICE };
    /** Two handles that both have version 1 of Alice in their caches. */
    const openTwo = async (first: FactWrite): Promise<[PostgresStore, PostgresStore]> => {
      const url = postgres.url();
      const [one, other] = [await openPostgres({ url }), await openPostgres({ url })];
      expect(await put(one, first)).toEqual(COMMITTED);
      await other.partition(ALICE);
      return [one, other];
    };
    const close = (stores: readonly PostgresStore[]) =>
      Promise.all(stores.map((store) => store.close()));
    const until = (n: number) => ({ valid_to: day(n) });
    const from = (n: number) => ({ valid_from: day(n) });

    test('saves a query: a change of a known partition takes one round trip', async () => {
      const store = await openPostgres({ url: postgres.url() });
      const trips = (...facts: FactWrite[]) => roundTripsOf(() => put(store, ...facts));
      const first = changeOf(ALICE, 1, 10, [{ fact_id: 'a' }]);
      expect(await trips(first)).toBe(2);
      expect(
        await trips(changeOf(ALICE, 2, 20, [{ fact_id: 'b' }], first.insert.map(keyOfRow))),
      ).toBe(1);
      await store.partition(BOB);
      const bob = changeOf(BOB, 1, 10, [{ fact_id: 'c' }]);
      expect(await trips(bob)).toBe(1);
      await store.partition(BOB);
      const both = [changeOf(ALICE, 3, 30, []), changeOf(BOB, 2, 20, [], bob.insert.map(keyOfRow))];
      expect(await trips(...both)).toBe(1);
      expect(await store.partition(ALICE)).toMatchObject({ version: 3, open: [{ fact_id: 'b' }] });
      expect(await store.partition(BOB)).toMatchObject({ version: 2, open: [] });
      expect(await store.selfCheck()).toEqual([]);
      await store.close();
    });

    test('is never the reason for a refusal', async () => {
      const stores = await openTwo(changeOf(ALICE, 1, 10, [{ fact_id: 'a', ...until(5) }]));
      const [one, other] = stores;
      expect(await put(one, changeOf(ALICE, 2, 20, [{ fact_id: 'b', ...from(5) }]))).toEqual(
        COMMITTED,
      );
      // The other handle's cache lacks this change. By the cache alone the first write would be
      // misuse, and the second would fit.
      expect(await put(other, changeOf(ALICE, 2, 20, [{ fact_id: 'c', ...until(5) }]))).toEqual(
        OUTDATED,
      );
      expect(await put(other, changeOf(ALICE, 2, 20, [{ fact_id: 'c', ...from(5) }]))).toEqual(
        OUTDATED,
      );
      const closing = [{ fact_id: 'b', system_time_start: day(20) }];
      expect(
        await put(other, changeOf(ALICE, 3, 30, [{ fact_id: 'c', ...from(5) }], closing)),
      ).toEqual(COMMITTED);
      const again = changeOf(BOB, 1, 40, [{ fact_id: 'c', system_time_start: day(30) }]);
      await other.partition(BOB);
      await expect(put(other, again)).rejects.toMatchObject({ code: 'store_invalid_input' });
      await close(stores);
    });

    test('belongs to one rebuild of the facts, and does not check rebuilt facts', async () => {
      const first = changeOf(ALICE, 1, 10, [{ fact_id: 'a', ...until(5) }]);
      const stores = await openTwo(first);
      async function* other() {
        yield [changeOf(ALICE, 1, 10, [{ fact_id: 'b' }])];
      }
      await stores[0].rebuildFacts(other());
      const overlapping = changeOf(ALICE, 2, 20, [{ fact_id: 'c', ...from(5) }]);
      await expect(put(stores[1], overlapping)).rejects.toMatchObject({
        code: 'store_invalid_input',
      });
      const closing = [{ fact_id: 'b', system_time_start: day(10) }];
      expect(await put(stores[1], { ...overlapping, close: closing })).toEqual(COMMITTED);
      await close(stores);
    });

    test('lacks the erasures of other handles, and restores no erased value', async () => {
      const stores = await openTwo(changeOf(ALICE, 1, 10, [{ fact_id: 'a', ...until(5) }]));
      const [one, other] = stores;
      const erase = (hash: string) =>
        one.commit({ ...batchOf([]), erased: [{ hash, by: blobOf('by').hash }] });
      await erase(contentOf('secret').hash);
      const secret = { fact_id: 'b', object: 'secret', ...from(5) };
      expect(await put(other, changeOf(ALICE, 2, 20, [secret]))).toEqual(COMMITTED);
      expect((await exportFacts(other)).join()).not.toContain('"object":"secret"');
      await erase(namesOf(ALICE).hash);
      expect(await put(other, changeOf(ALICE, 3, 30, []))).toEqual(COMMITTED);
      expect(await other.partition(ALICE)).toBeUndefined();
      expect((await exportFacts(other)).join()).not.toContain('"subject":"alice"');
      await other.scrub();
      expect(await other.selfCheck()).toEqual([]);
      await close(stores);
    });
  });

  test('a change reads only its own rows, for any table size, with old plans', async () => {
    const url = postgres.url();
    const store = await openPostgres({ url });
    const patient = (n: number) => ({ ...ALICE, subject: `patient ${n}` });
    const said = (n: number, version: number) => [{ fact_id: `${n} ${version}` }];
    const first = Array.from({ length: 600 }, (_, n) => changeOf(patient(n), 1, 10, said(n, 1)));
    for (const change of first.slice(0, 20))
      await store.commit({ ...batchOf([]), facts: [change] });
    await store.commit({ ...batchOf([]), facts: first.slice(20) });
    for (let n = 0; n < 100; n += 1)
      await store.commit({
        ...batchOf([]),
        facts: [changeOf(patient(n), 2, 20, said(n, 2), first[n]!.insert.map(keyOfRow))],
      });
    // A connection reports its statistics of read and written rows when it ends.
    await store.close();
    const schema = postgres.schemaOf(url);
    const sum = async (column: string, view: string): Promise<number> => {
      const where = `FROM ${view} WHERE schemaname = $1 AND relname = 'fact'`;
      return Number(
        (await postgres.query(`SELECT sum(${column}) AS sum ${where}`, [schema]))[0]!['sum'],
      );
    };
    await expect.poll(() => sum('n_tup_ins', 'pg_stat_user_tables')).toBe(700);
    expect(await sum('idx_tup_read', 'pg_stat_user_indexes')).toBeLessThan(10_000);
  });

  test('the tables refuse rows that violate Table 12', async () => {
    const url = postgres.url();
    const store = await openPostgres({ url });
    await store.commit({ ...batchOf([]), facts: [changeOf(ALICE, 1, 10, [{ fact_id: 'a' }])] });
    const copy = (json: string) =>
      postgres.query(`SET search_path TO "${postgres.schemaOf(url)}";
        INSERT INTO fact SELECT (json_populate_record(f, '${json}'::json)).* FROM fact AS f WHERE f.fact_id = 'a'`);
    const earlier = { valid_from: OPEN_START, valid_to: day(1) };
    const other = { id: `\\x${'01'.repeat(32)}`, fact_id: 'b', ...earlier };
    for (const wrong of [
      { confidence: 1.5 },
      { confidence: -0.1 },
      { valid_from: day(1) },
      { system_end: day(10) },
    ])
      await expect(copy(JSON.stringify({ ...other, ...wrong }))).rejects.toMatchObject({
        code: '23514',
      });
    // The two kinds are the two values of a Boolean, so a third kind is not a valid value.
    await expect(copy(JSON.stringify({ ...other, audit: 'shadow' }))).rejects.toMatchObject({
      code: '22P02',
    });
    await expect(copy(JSON.stringify(earlier))).rejects.toMatchObject({ code: '23505' });
    // Another fact already holds in that period.
    await expect(copy(JSON.stringify({ ...other, valid_to: day(2) }))).rejects.toMatchObject({
      code: '23P01',
    });
    await copy(JSON.stringify({ ...other, confidence: 0.5 }));
    await store.close();
  });

  test('texts and vectors that are not as the facts say are found', async () => {
    const url = postgres.url();
    const store = await openPostgres({ url });
    await say(store);
    await store.scrub();
    expect(await store.selfCheck()).toEqual([]);
    await postgres.query(`SET search_path TO "${postgres.schemaOf(url)}";
      SET session_replication_role = replica;
      CREATE TEMP TABLE said AS SELECT f.object, t.* FROM fact_text AS t JOIN fact AS f ON f.key = t.key;
      DELETE FROM fact_text USING said WHERE said.id = fact_text.id AND said.object = 'gone';
      INSERT INTO fact_text (key, space, content, audit, day, length, words)
        SELECT key, space, content, true, '', 1, words FROM said WHERE object = 'kept';
      UPDATE fact_text AS t SET length = 1 FROM said WHERE said.id = t.id AND said.object = 'counted';
      UPDATE fact_text AS t SET space = 99 FROM said WHERE said.id = t.id AND said.object = 'elsewhere';
      UPDATE fact_vector AS v SET vector = '{1}' FROM said WHERE said.id = v.text AND said.object = 'short';
      UPDATE fact_vector AS v SET embedder = 99 FROM said WHERE said.id = v.text AND said.object = 'strange'`);
    expect(await store.selfCheck()).toEqual([
      '2 texts of facts have a wrong word count',
      '1 facts have no search text; rebuild them: assize memory rebuild',
      '1 texts belong to no fact; rebuild them: assize memory rebuild',
      '1 texts of facts are indexed in a wrong space; rebuild them: assize memory rebuild',
      '1 vectors belong to no text',
      '2 vectors have no embedder, or other dimensions than their embedder; rebuild them: assize memory rebuild',
    ]);
    await store.close();
  });

  test('partitions that are not as their rows say are found', async () => {
    const url = postgres.url();
    const store = await openPostgres({ url });
    for (const subject of ['alice', 'bob', 'carol', 'dave', 'erin']) {
      const partition = { ...ALICE, subject };
      const first = changeOf(partition, 1, 10, [{ fact_id: subject, valid_to: day(5) }]);
      const second = changeOf(partition, 2, 20, [
        { fact_id: `${subject} too`, valid_from: day(5) },
      ]);
      const third = changeOf(partition, 3, 30, [], second.insert.map(keyOfRow));
      for (const change of [first, second, third])
        await store.commit({ ...batchOf([]), facts: [change] });
    }
    // The predicate now has several values, but earlier facts are single-valued.
    const several = { cardinality: 'multi-valued' } as const;
    const fourth = changeOf({ ...ALICE, subject: 'erin' }, 4, 40, [
      { fact_id: 'erin as well', ...several },
    ]);
    await store.commit({ ...batchOf([]), facts: [fourth] });
    expect(await store.selfCheck()).toEqual([]);
    await postgres.query(`${UNGUARDED}; SET search_path TO "${postgres.schemaOf(url)}";
      UPDATE fact_partition SET version = 1 WHERE subject = 'alice';
      UPDATE fact_partition SET latest = '${day(29)}' WHERE subject = 'bob';
      UPDATE fact SET system_end = '9999-12-31T00:00:00.000000Z', valid_from = '${day(3)}'
        WHERE fact_id IN ('carol too', 'erin too');
      DELETE FROM fact_partition WHERE subject = 'dave';
      UPDATE fact_rebuild SET whole = false`);
    expect(await store.selfCheck()).toEqual([
      '2 facts belong to no partition',
      '2 texts of facts belong to no partition',
      '1 rebuilds of the facts are not finished; rebuild them: assize memory rebuild',
      'the facts of ["clinic", "alice", "medication"] do not fit the version or the latest change of their partition',
      'the facts of ["clinic", "bob", "medication"] do not fit the version or the latest change of their partition',
      'the facts of ["clinic", "carol", "medication"] overlap, although the predicate is single-valued',
      'the facts of ["clinic", "erin", "medication"] overlap, although the predicate is single-valued',
    ]);
    await store.close();
  });

  test('rows of a text are found by content in a partition, for any statistics', async () => {
    const url = postgres.url();
    const store = await openPostgres({ url });
    const rows = Array.from({ length: 2_000 }, (_, n) => ({
      fact_id: `${n}`,
      cardinality: 'multi-valued' as const,
    }));
    const elsewhere = Array.from({ length: 2_000 }, (_, n) =>
      changeOf({ ...ALICE, subject: `s${n}` }, 1, 10, [{ fact_id: `s${n}`, object: 'yes' }]),
    );
    await store.commit({ ...batchOf([]), facts: [changeOf(ALICE, 1, 10, rows), ...elsewhere] });
    const texts = await store.textsToEmbed('m', ALICE.space, 5_000);
    expect(texts.map(({ id }) => Number(id))).toEqual(
      texts.map((_, n) => Number(texts[0]!.id) + n),
    );
    expect(new Set(texts.map(({ text }) => text)).size).toBe(4_000);
    const fact = `"${postgres.schemaOf(url)}".fact`;
    for (const isAnalysed of [false, true]) {
      if (isAnalysed) await postgres.query(`ANALYZE ${fact}`);
      for (const object of ['says 7', 'yes']) {
        const content = `'\\x${contentOf(object).hash}'::bytea`;
        const plan = await postgres.query(
          `EXPLAIN SELECT f.object FROM ${fact} AS f WHERE f.content = ${content} AND f.key = 7 AND f.audit = false LIMIT 1`,
        );
        const steps = plan.map((step) => String(Object.values(step)[0])).join('\n');
        expect(steps).toMatch(/Index Cond: \(\(content = .* AND \(key = /);
      }
    }
    await store.close();
  });

  test('a read snapshot is repeated if its connection is lost, and is exclusive', async () => {
    const url = postgres.url();
    const applicationName = postgres.schemaOf(url);
    const store = await openPostgres({ url, applicationName, readers: 1 });
    const said = (n: number) =>
      changeOf({ ...ALICE, subject: `s${n}` }, 1, 10, [{ fact_id: `${n}` }]);
    await store.commit({ ...batchOf([]), facts: [said(1)] });
    const counted: number[][] = [];
    const count = async (reads: Pick<PostgresStore, 'facts'>) =>
      (await reads.facts({ space, limit: 9 })).length;
    const answer = await store.withReadSnapshot(async (reads) => {
      const seen = [await count(reads)];
      counted.push(seen);
      await store.commit({ ...batchOf([]), facts: [said(1 + counted.length)] });
      if (counted.length === 1)
        await postgres.query(
          'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = $1 AND query NOT LIKE $2 AND xact_start IS NOT NULL',
          [applicationName, '%pg_terminate_backend%'],
        );
      // Several reads at a time, too.
      seen.push(...(await Promise.all([count(reads), count(reads)])));
      return seen;
    });
    expect([answer, counted]).toEqual([
      [2, 2, 2],
      [[1], [2, 2, 2]],
    ]);
    expect(await count(store)).toBe(3);
    await store.close();
  });

  test('people with a SQL shell find the twelve columns of a fact', async () => {
    const url = postgres.url();
    const store = await openPostgres({ url });
    await store.commit({
      ...batchOf([]),
      facts: [changeOf(ALICE, 1, 10, [{ fact_id: 'a', confidence: 0.5 }])],
    });
    const [row] = await postgres.query(`SELECT * FROM "${postgres.schemaOf(url)}".facts`);
    expect(row).toMatchObject({
      fact_id: 'a',
      subject: 'alice',
      confidence: 0.5,
      row_kind: 'current',
    });
    expect(Object.keys(row!)).toHaveLength(12);
    await store.close();
  });
});

/** Facts with a text and a vector each, and one erased fact without them. */
async function say(store: PostgresStore): Promise<void> {
  const facts = ['gone', 'kept', 'counted', 'elsewhere', 'short', 'strange', 'erased'].map(
    (object) => changeOf({ ...ALICE, subject: object }, 1, 10, [{ fact_id: object, object }]),
  );
  await store.commit({ ...batchOf([]), facts });
  const texts = await store.textsToEmbed('m', ALICE.space, 100);
  await store.putVectors(
    'm',
    texts.map(({ id }) => ({ id, vector: new Float32Array([3, 4]) })),
  );
  await store.commit({
    ...batchOf([]),
    erased: [{ hash: contentOf('erased').hash, by: blobOf('by').hash }],
  });
}
