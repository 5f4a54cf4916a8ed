import { expect, test } from 'vitest';
import { deskOf } from '../../../../../../tests/support/ledger/desk.ts';
import { intent, runtimeOver, writFor } from '../../../../../../tests/support/ledger/runtime.ts';
import { onEveryDatabase } from '../../../../../../tests/support/ledger/stores.ts';
import type { Assize } from '../../assize.ts';
import type { Trajectory } from '../../trajectory.ts';

const desk = deskOf('reserve');
const worker = writFor('worker');
const add = (by: number) => intent('add', { by }, worker);
/** A commit is seen within a second. The machine of the tests is slow. */
const SOON = { timeout: 20_000, interval: 20 };

onEveryDatabase(({ newPlace }) => {
  /** Two runtimes of two processes, over one database. */
  async function two(): Promise<{
    first: Assize;
    second: Assize;
    reader: Trajectory;
    writer: Trajectory;
  }> {
    const place = newPlace();
    const [first, second] = [
      runtimeOver(await place.open(), [desk]),
      runtimeOver(await place.open(), [desk]),
    ];
    const reader = (await first.create(desk, {
      trajectoryId: 't',
      writs: [worker],
    })) as unknown as Trajectory;
    return { first, second, reader, writer: await second.open('t') };
  }

  test('state, slices, subscribers and the pending list follow another process', async () => {
    const { first, second, reader, writer } = await two();
    const told: unknown[] = [];
    reader.subscribe('worker', {}, (slice) => told.push(slice));
    for (const by of [1, 2, 3])
      expect(await writer.propose(add(by))).toMatchObject({ ruling: 'committed' });
    await expect.poll(() => reader.state(), SOON).toMatchObject({ n: 6 });
    expect(reader.slice('worker')).toMatchObject({ n: 6 });
    expect(told.at(-1)).toMatchObject({ n: 6 });
    expect((await first.open('t')).head).toBe(writer.head);
    const asked = await writer.propose(intent('ask', { amount: 1 }, worker));
    await expect
      .poll(() => reader.approvals.pending().map(({ id }) => id), SOON)
      .toEqual([asked.ruling === 'escalated' && asked.pending]);
    await Promise.all([first.close(), second.close()]);
  });

  test('refresh reads now, and both sides may write', async () => {
    const { first, second, reader, writer } = await two();
    for (let n = 1; n <= 4; n++) {
      const [one, other] = n % 2 === 0 ? [reader, writer] : [writer, reader];
      await one.propose(add(1));
      await other.refresh();
      expect([one.state(), other.state()]).toMatchObject([{ n }, { n }]);
    }
    await Promise.all([first.close(), second.close()]);
  });

  test('a runtime follows from the first opening until the last release', async () => {
    const store = await newPlace().open();
    const follow = store.follow?.bind(store);
    let following = 0;
    store.follow = async (listener) => {
      const stop = await follow!(listener);
      following += 1;
      return async () => {
        following -= 1;
        await stop();
      };
    };
    const assize = runtimeOver(store, [desk]);
    for (const trajectoryId of ['t', 'u'])
      await assize.create(desk, { trajectoryId, writs: [worker] });
    expect(following).toBe(0);
    await expect.poll(() => following, SOON).toBe(1);
    assize.release('t');
    await new Promise((done) => setTimeout(done, 500));
    expect(following).toBe(1);
    assize.release('u');
    await expect.poll(() => following, SOON).toBe(0);
    await assize.open('t');
    await expect.poll(() => following, SOON).toBe(1);
    await assize.close();
    expect(following).toBe(0);
  });
});
