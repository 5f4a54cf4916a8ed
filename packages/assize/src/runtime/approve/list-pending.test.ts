import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { deskOf } from '../../../../../tests/support/ledger/desk.ts';
import { intent, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';

const writ = writFor('agent');
const desk = deskOf('footprint');

class CountingStore extends MemoryStore {
  readonly read = new Set<string>();

  override entries(
    ...[name, page]: Parameters<MemoryStore['entries']>
  ): ReturnType<MemoryStore['entries']> {
    this.read.add(name);
    return super.entries(name, page);
  }
}

test('a list of pending proposals reads only the trajectories that have some', async () => {
  const store = new CountingStore();
  const assize = runtimeOver(store, [desk]);
  const ids: string[] = [];
  for (let n = 0; n < 6; n++) {
    const trajectory = await assize.create(desk, { trajectoryId: `t${n}`, writs: [writ] });
    await trajectory.propose(intent('add', { by: 1 }, writ));
    if (n % 3 === 0) continue;
    const ruling = await trajectory.propose(intent('ask', { amount: 5 }, writ));
    if (ruling.ruling !== 'escalated') throw new Error(ruling.ruling);
    if (n % 3 === 1) ids.push(ruling.pending);
    else
      await trajectory.approvals.reject(ruling.pending, {
        principal: 'dr-a',
        method: 'test',
        reason: 'no',
      });
  }
  const listed = async (from: CountingStore): Promise<string[]> => {
    const found: string[] = [];
    for await (const { id } of runtimeOver(from, [desk]).pending()) found.push(id);
    return found;
  };
  store.read.clear();
  expect(await listed(store)).toEqual(ids);
  expect([...store.read]).toEqual(['t1', 't4']);
  // A store without the method lists the same, and reads all.
  store.read.clear();
  store.trajectoriesToReview = undefined as never;
  expect(await listed(store)).toEqual(ids);
  expect(store.read.size).toBe(6);
});
