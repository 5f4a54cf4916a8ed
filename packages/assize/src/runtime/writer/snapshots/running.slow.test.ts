/** Snapshots of memory are left while a trajectory runs, so closing replays nothing. */

import { fsck } from '@assize/audit/internal/checkpoints';
import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { granted, worker } from '../../../../../../tests/support/ledger/delegations.ts';
import { deskOf } from '../../../../../../tests/support/ledger/desk.ts';
import { intent, runtimeOver, writFor } from '../../../../../../tests/support/ledger/runtime.ts';
import type { Trajectory } from '../../trajectory.ts';
import { SNAPSHOT_AFTER } from './snapshots.ts';

const desk = deskOf('footprint');

/** Counts the entries that pages read, and the snapshots put. */
class CountingStore extends MemoryStore {
  read = 0;
  readonly put: number[] = [];

  override async entries(trajectoryId: string, options: { from?: number; limit?: number } = {}) {
    const rows = await super.entries(trajectoryId, options);
    if (options.limit !== 1) this.read += rows.length;
    return rows;
  }

  override async putSnapshot(
    ...[row, erasures]: Parameters<MemoryStore['putSnapshot']>
  ): Promise<void> {
    this.put.push(row.seq);
    await super.putSnapshot(row, erasures);
  }
}

async function lengthened(trajectory: Trajectory, count: number): Promise<void> {
  for (let n = 0; n < count; n += 100)
    await Promise.all(
      Array.from({ length: Math.min(100, count - n) }, () =>
        trajectory.propose(intent('pay', { usd: 0 }, worker)),
      ),
    );
}

const runtime = (store: MemoryStore) => runtimeOver(store, [desk], { snapshots: store });

test('snapshots are left while a trajectory runs, and closing reads no entry', async () => {
  const store = new CountingStore();
  const assize = runtime(store);
  const trajectory = await assize.create(desk, { trajectoryId: 't', writs: [granted, worker] });
  await lengthened(trajectory, 3 * SNAPSHOT_AFTER + 500);
  expect(store.put.length).toBe(3);
  // A process that is killed now leaves the last of these.
  const { length, head } = trajectory;
  expect(length - (store.put.at(-1) as number)).toBeLessThan(SNAPSHOT_AFTER);
  await assize.close();
  expect(store.read).toBe(0);
  const next = runtime(store);
  expect((await next.open('t')).head).toBe(head);
  expect(store.read).toBeLessThan(SNAPSHOT_AFTER);
  expect((await fsck(store)).faults).toEqual([]);
});

test('closing leaves a snapshot that was too large while the trajectory ran', async () => {
  const store = new CountingStore();
  const assize = runtime(store);
  const trajectory = await assize.create(desk, { trajectoryId: 't', writs: [granted, worker] });
  for (const box of ['a', 'b']) {
    const paper = {
      ...intent('put', { paper: 'x'.repeat(1_000_000) }, worker),
      role: { name: 'filer', params: { box } },
    };
    await trajectory.propose(paper as never);
  }
  await lengthened(trajectory, SNAPSHOT_AFTER + 100);
  expect(store.put).toEqual([]);
  const { length } = trajectory;
  await assize.close();
  expect(store.put).toEqual([length - 1]);
});

test('closing leaves a snapshot also after a reload, a halt and a revocation', async () => {
  const store = new CountingStore();
  const [one, other] = [runtime(store), runtime(store)];
  const trajectory = await one.create(desk, { trajectoryId: 't', writs: [granted, worker] });
  const again = await other.open('t');
  await again.propose(intent('pay', { usd: 1 }, worker));
  await trajectory.propose(intent('pay', { usd: 2 }, worker));
  const stopping = writFor('stopper', {
    actions: ['assize.halt', 'assize.revoke'],
    scopes: ['halt:**', 'writ:**'],
  });
  const reason = 'to look at it';
  expect((await trajectory.halt({ writ: stopping, reason })).ruling.ruling).toBe('committed');
  expect((await trajectory.resume({ writ: stopping, reason })).ruling.ruling).toBe('committed');
  await lengthened(trajectory, SNAPSHOT_AFTER - 10);
  // Known here, and in no entry or as the writ of a rejection alone.
  await trajectory.propose(
    intent('pay', { usd: 0 }, { writ: writFor('only presented'), chain: [] } as never),
  );
  await trajectory.propose(
    intent('add', { by: 99 }, { writ: writFor('rejected'), chain: [] } as never),
  );
  const revoked = await trajectory.writs.revoke({ writ: worker, reason, by: stopping });
  expect(revoked.ruling.ruling).toBe('committed');
  for (let n = 0; n < 10; n++) await trajectory.propose(intent('pay', { usd: 0 }, granted));
  store.read = 0;
  await one.close();
  expect([store.read, store.put.length]).toEqual([0, 1]);
  expect((await fsck(store)).faults).toEqual([]);
});

test('memory with values that were erased elsewhere is not kept', async () => {
  const store = new CountingStore();
  const assize = runtime(store);
  const trajectory = await assize.create(desk, { trajectoryId: 't', writs: [granted, worker] });
  store.erasures = async () => 1;
  await lengthened(trajectory, SNAPSHOT_AFTER + 1);
  await assize.close();
  // The snapshot is made of the entries instead.
  expect(store.read).toBeGreaterThan(SNAPSHOT_AFTER);
});
