import { keyOf, loggedOf, writeOf } from '@assize/testing/internal/effect-rows.ts';
import { effectStoreSuite } from '@assize/testing/internal/effect-store-suite.ts';
import { sharedEffectStoreSuite } from '@assize/testing/internal/shared-effect-store-suite.ts';
import { batchOf, blobOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import type { CommitResult } from 'assize/internal/ledger';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { type Loss, Relay, withPostgres } from '../../../../tests/support/postgres/index.ts';
import { unknownCommitError } from '../errors.ts';
import { openPostgres } from '../index.ts';
import { BatchJob } from '../writer/job.ts';

const WRITTEN = { status: 'written' };

withPostgres('effects', (postgres) => {
  let relay: Relay;
  beforeAll(async () => {
    relay = await Relay.start(postgres.server.port);
  });
  afterAll(() => relay.stop());

  const suite = {
    name: 'postgres',
    open: (place: string) => openPostgres({ url: postgres.url(place) }),
    runs: cases,
  };
  effectStoreSuite(suite);
  sharedEffectStoreSuite(suite);

  test.each<Loss>(['before', 'torn', 'under way', 'answered'])(
    'a write of effects with a lost connection is resent and applied once: %s',
    async (loss) => {
      const through = new URL(postgres.url());
      through.port = String(relay.port);
      const store = await openPostgres({ url: through.href });
      const { fence } = await store.leaseEffects();
      const blob = blobOf(loss);
      const lost = relay.lose(loss);
      const writes = Promise.all([
        store.logEffects(writeOf(fence, 1, ['a', 'b']), [blob]),
        store.logEffects({ fence, records: [{ epoch: 1, place: 2, record: 'c' }] }),
        store.logEffects({ ...writeOf(fence, 2), ended: [2] }),
      ]);
      await lost;
      expect(await writes).toEqual([WRITTEN, WRITTEN, WRITTEN]);
      expect(await store.openEffects()).toEqual([loggedOf(1, ['a', 'b', 'c'])]);
      expect(await store.effectsOf(2)).toEqual(loggedOf(2));
      expect(await store.blob(blob.hash)).toBe(blob.text);
      await store.close();
    },
  );

  test('a holder with a lost connection is fenced by the next holder', async () => {
    const url = postgres.url();
    const name = postgres.schemaOf(url);
    const [left, right] = [
      await openPostgres({ url, applicationName: name }),
      await openPostgres({ url }),
    ];
    const first = await left.leaseEffects();
    expect(await left.logEffects(writeOf(first.fence, 1))).toEqual(WRITTEN);
    const waiting = right.leaseEffects();
    await postgres.query(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE application_name = $1 AND query LIKE 'SELECT pg_advisory_lock%'`,
      [name],
    );
    const second = await waiting;
    expect(second).toMatchObject({ fence: first.fence + 1, lastEpoch: 1 });
    expect(await left.logEffects(writeOf(first.fence, 2))).toEqual({ status: 'fenced' });
    expect(await right.logEffects({ fence: second.fence, ended: [1] })).toEqual(WRITTEN);
    await first.release();
    await left.close();
    await right.close();
  });

  test('a waiter for a lease keeps waiting past the server’s timeout for locks', async () => {
    const url = postgres.url();
    const name = postgres.schemaOf(url);
    const left = await openPostgres({ url });
    const right = await openPostgres({ url, applicationName: name, statementTimeoutMs: 1_000 });
    const first = await left.leaseEffects();
    const waiting = right.leaseEffects();
    const asked = new Set<unknown>();
    // Until the waiting store asks a second time.
    while (asked.size < 2) {
      const rows = await postgres.query(
        `SELECT query_start::text AS at FROM pg_stat_activity
        WHERE application_name = $1 AND query LIKE 'SELECT pg_advisory_lock%' AND wait_event_type = 'Lock'`,
        [name],
      );
      for (const row of rows) asked.add(JSON.stringify(row));
    }
    await first.release();
    expect((await waiting).fence).toBe(first.fence + 1);
    await left.close();
    await right.close();
  });

  test('effects, entries, erasures and oracle answers of a group are one call', async () => {
    const url = postgres.url();
    const store = await openPostgres({ url });
    const { fence } = await store.leaseEffects();
    const [t, u] = [entryAfter(undefined, 't'), entryAfter(undefined, 'u')];
    const blob = blobOf('gone');
    const answer = { key: t.id, answer: '1', at: 'now' };
    const commits = async (): Promise<number> => {
      const rows = await postgres.query(`SELECT count(DISTINCT x.xmin::text)::int AS n FROM (
        SELECT xmin FROM "${postgres.schemaOf(url)}".entry UNION ALL
        SELECT xmin FROM "${postgres.schemaOf(url)}".oracle UNION ALL
        SELECT xmin FROM "${postgres.schemaOf(url)}".effect_transaction) AS x`);
      return Number(Object.values(rows[0] as object)[0]);
    };
    const answers = await Promise.all([
      store.commit({ ...batchOf(t, [blob]), effects: writeOf(fence, 1) }),
      store.oraclePut(answer),
      store.commit({ ...batchOf(u), erased: [{ hash: blob.hash, by: u.id }] }),
      store.logEffects({ ...writeOf(fence, 2), ended: [2] }),
    ]);
    expect(answers).toEqual([{ status: 'committed' }, answer, { status: 'committed' }, WRITTEN]);
    // One transaction, and the nested one that appends.
    expect(await commits()).toBe(2);
    expect([await store.blob(blob.hash), await store.erasedBy(blob.hash)]).toEqual([
      undefined,
      u.id,
    ]);
    expect(await store.openEffects()).toEqual([loggedOf(1)]);
    await store.close();
  });

  test('a store that is only read has effects and takes none', async () => {
    const url = postgres.url();
    const store = await openPostgres({ url });
    const { fence } = await store.leaseEffects();
    await store.logEffects(writeOf(fence, 1));
    await store.close();
    const reader = await openPostgres({ url, mode: 'readonly' });
    expect(await reader.openEffects()).toEqual([loggedOf(1)]);
    expect(await reader.effectKey(keyOf(1).key)).toEqual(keyOf(1));
    for (const call of [() => reader.leaseEffects(), () => reader.logEffects({ fence })])
      await expect(call()).rejects.toMatchObject({ code: 'store_readonly' });
    await reader.close();
  });
});

test('a write in doubt that is fenced when it is resent stays in doubt', async () => {
  const batch = { ...batchOf([]), effects: writeOf(1, 1) };
  const doubt = unknownCommitError('a store', new Error('lost'));
  const { promise, resolve, reject } = Promise.withResolvers<CommitResult>();
  const job = new BatchJob(batch, resolve, reject);
  expect(job.doubt(doubt)).toBe(true);
  job.answer({ status: 'fenced' });
  expect(await promise).toEqual({ status: 'unknown', cause: doubt });
  const other = Promise.withResolvers<CommitResult>();
  new BatchJob(batch, other.resolve, other.reject).answer({ status: 'fenced' });
  expect(await other.promise).toEqual({ status: 'fenced' });
});
