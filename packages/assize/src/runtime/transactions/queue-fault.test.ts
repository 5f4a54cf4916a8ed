import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { interceptSql, sqliteError } from '@assize/testing/internal/intercept.ts';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { openSqlite } from '#stores';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import {
  OutsideSink,
  Steps,
  tally,
  toolFor,
} from '../../../../../tests/support/tools/effect-sink.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-queue-fault-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

// An error that a timer throws ends the process, and fails the run of the tests.
test.each([
  ['EIO', 10],
  ['EROFS', 8],
  ['EMFILE', 14],
  ['ENOSPC', 13],
])('a lease whose queue cannot be read (%s) is given back', async (name, errcode) => {
  const store = await openSqlite({ path: join(folder, `${name}.db`) });
  const outside = {
    sink: new OutsideSink('keyed'),
    steps: new Steps(),
    fault: () => 'none' as const,
  };
  const assize = runtimeOver(store, [tally], {
    tools: [toolFor(outside, 'reversible', 'externalised')],
  });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  const act = () =>
    trajectory.transaction({ writ: writFor('alice'), writes: ['test:a'] }, async (tx) => {
      tx.propose({ action: 'count', role: 'counter', args: 'order' } as never);
    });
  expect((await act()).ruling.ruling).toBe('committed');
  let looks = 0;
  interceptSql((sql, proceed) => {
    if (!sql.startsWith('BEGIN EXCLUSIVE')) return proceed();
    looks += 1;
    throw sqliteError(errcode);
  });
  await vi.waitFor(() => expect(looks).toBeGreaterThan(0));
  await sleep(100);
  // The runtime has given the lease back and looks no more. The next caller gets the fault.
  expect(looks).toBe(1);
  await expect(act()).rejects.toMatchObject({
    code: expect.stringMatching(/^store_(failed|readonly)$/),
  });
  vi.restoreAllMocks();
  expect((await act()).ruling.ruling).toBe('committed');
  await assize.close();
  await store.close();
});
