import { batchOf, chainOf } from '@assize/testing/internal/store-rows.ts';
import type { EntryRow } from 'assize/internal/ledger';
import { expect, test } from 'vitest';
import { withPostgres } from '../../../../tests/support/postgres/index.ts';
import { loadDriver } from '../connection/driver.ts';
import { Session } from '../connection/session.ts';
import { PartitionCache } from '../facts/partition-cache.ts';
import { openPostgres } from '../index.ts';
import { Group, prepareAppend } from './commit.ts';
import { BatchJob } from './job.ts';

withPostgres('a commit', (postgres) => {
  test('reads only the head of a trajectory, however grown since the connection', async () => {
    const url = postgres.url();
    const store = await openPostgres({ url });
    const session = await Session.open({
      driver: await loadDriver(),
      url: url.slice(0, url.indexOf('?')),
      path: '',
      applicationName: 'test',
      connectTimeoutMs: 10_000,
      lockTimeoutMs: 10_000,
      statementTimeoutMs: 10_000,
    });
    const append = prepareAppend({
      schema: postgres.schemaOf(url),
      path: 'here',
      seals: undefined,
    });
    const write = (rows: readonly EntryRow[]): Promise<unknown> =>
      new Promise((resolve, reject) =>
        new Group([new BatchJob(batchOf(rows), resolve, reject)], new PartitionCache())
          .write(session, append, false)
          .catch(reject),
      );
    const rows = ['a', 'b', 'c', 'd'].map((name) => chainOf(name, 201));
    for (let from = 0; from < 200; from += 20)
      await write(rows.flatMap((chain) => chain.slice(from, from + 20)));
    const text = `SELECT idx_tup_fetch FROM pg_stat_xact_user_tables
      WHERE schemaname = '${postgres.schemaOf(url)}' AND relname = 'entry'`;
    const read = async (): Promise<number> => Number((await session.run({ text }))[0]![0]);
    await session.run({ text: 'BEGIN' });
    const before = await read();
    expect(await write(rows.map((chain) => chain[200]!))).toEqual({ status: 'committed' });
    // Each head, and each new row: the commit counts what the table kept.
    expect((await read()) - before).toBe(8);
    await session.run({ text: 'COMMIT' });
    await session.end();
    await store.close();
  });
});
