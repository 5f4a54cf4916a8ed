import { logStoreSuite } from '@assize/testing/internal/log-store-suite.ts';
import { batchOf, blobOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import { integrateLog } from 'assize/internal/ledger';
import { expect, test } from 'vitest';
import { holdTable, withPostgres } from '../../../../tests/support/postgres/index.ts';
import { openPostgres } from '../index.ts';

withPostgres('the log', (postgres) => {
  logStoreSuite({ name: 'postgres', open: (place) => openPostgres({ url: postgres.url(place) }) });

  test('an entry that commits late gets its position, and no writer logs past it', async () => {
    const url = postgres.url();
    const [slow, quick, reader] = [
      await openPostgres({ url }),
      await openPostgres({ url }),
      await openPostgres({ url }),
    ];
    const blob = blobOf('x');
    const schema = postgres.schemaOf(url);
    // The slow commit takes its number in the order of the store, and then waits for this row.
    const insert = `BEGIN; INSERT INTO "${schema}".blob VALUES ('\\x${blob.hash}', 'x'); SELECT pg_sleep(60)`;
    const held = postgres
      .query(`SET application_name TO '${schema}'; ${insert}`)
      .catch(() => undefined);
    const untilWaiting = async (what: string, count = 1): Promise<void> => {
      while ((await postgres.query(`SELECT FROM pg_stat_activity WHERE ${what}`)).length < count);
    };
    await untilWaiting(`application_name = '${schema}' AND wait_event = 'PgSleep'`);
    const [early, late] = [entryAfter(undefined, 'early'), entryAfter(undefined, 'late')];
    const committing = slow.commit(batchOf(early, [blob]));
    await untilWaiting(`query LIKE '%"${schema}".append%' AND wait_event_type = 'Lock'`);
    expect(await quick.commit(batchOf(late))).toEqual({ status: 'committed' });
    const unlogged = reader.unlogged(10);
    const size = integrateLog(quick);
    // Both must wait, so later commits follow the position that either waits for.
    await untilWaiting(`query LIKE '%"${schema}".log_horizon%' AND wait_event = 'PgSleep'`, 2);
    expect(await reader.logSize()).toBe(0);
    const last = entryAfter(undefined, 'last');
    expect(await quick.commit(batchOf(last))).toEqual({ status: 'committed' });
    // A logged entry is no longer unlogged, so the reader must answer before the integration.
    const letLog = await holdTable(url, 'log', 'EXCLUSIVE');
    await postgres.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${schema}'`,
    );
    await held;
    expect(await committing).toEqual({ status: 'committed' });
    expect(await unlogged).toEqual([early, late]);
    await letLog();
    expect(await size).toBe(3);
    expect(await reader.logged(0, 10)).toEqual([early, late, last]);
    for (const store of [slow, quick, reader]) await store.close();
  });
});
