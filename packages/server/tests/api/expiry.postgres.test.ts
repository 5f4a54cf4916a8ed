/** An approval that expires on a quiet trajectory: its entry, its notice, and the answers. */
import { expect, test } from 'vitest';
import { onEveryDatabase } from '../../../../tests/support/ledger/stores.ts';
import { callOperation, pay, succeed } from '../../../../tests/support/server/calling.ts';
import { start } from '../../../../tests/support/server/serving.ts';
import { NoticeSink } from '../../../../tests/support/tools/notice-sink.ts';

const SOON = { timeout: 60_000, interval: 50 };

onEveryDatabase(({ newPlace }) => {
  test('list, get, key and repetition say the same, and one entry is written', async () => {
    await using sink = await NoticeSink.open();
    const webhook = { url: sink.url, secret: 'a-secret-of-24-characters', allowPrivate: true };
    const config = { notices: { webhooks: [webhook] }, approvals: { timeoutMs: 1_000 } };
    const place = newPlace();
    const one = await start({ store: await place.open(), config, stopsAlone: true });
    const two = await start({ store: await place.open(), config, stopsAlone: true });
    try {
      const asked = pay('a', 200, 'k');
      const { ruling, approval_id: id } = await succeed(one, 'proposals.create', asked);
      expect(ruling).toBe('escalated');
      // The other server has the trajectory in memory too.
      await succeed(two, 'proposals.create', pay('b', 1, 'other'));
      await expect.poll(() => sink.of('approval.resolved'), SOON).toHaveLength(1);
      const expired = { ruling: 'rejected', reason: 'expired' };
      for (const server of [one, two]) {
        expect((await succeed(server, 'approvals.list', { as: 'boss:ada' })).approvals).toEqual([]);
        const got = await succeed(server, 'approvals.get', {
          as: 'boss:ada',
          path: { approval: id },
        });
        expect(got).toMatchObject({ status: 'resolved', ruling: expired });
        expect((await callOperation(server, 'proposals.create', asked)).body).toMatchObject(
          expired,
        );
      }
      const entries = (await one.store.entries('main')).map(({ payload }) => JSON.parse(payload));
      expect(entries.filter(({ reason }) => reason === 'expired')).toHaveLength(1);
    } finally {
      await Promise.all([one.stop(), two.stop()]);
    }
  });

  test('an approval of a server that stopped expires at the next one', async () => {
    const place = newPlace();
    const config = { approvals: { timeoutMs: 3_000 } };
    const one = await start({ store: await place.open(), config, stopsAlone: true });
    const pending = await succeed(one, 'proposals.create', {
      ...pay('a', 200, 'k'),
      path: { trajectory: 'spare' },
    });
    expect(pending.ruling).toBe('escalated');
    await one.stop();
    const two = await start({ store: await place.open(), config, stopsAlone: true });
    try {
      const last = async (): Promise<string> =>
        JSON.parse((await two.store.head('spare'))!.payload).reason;
      await expect.poll(last, SOON).toBe('expired');
    } finally {
      await two.stop();
    }
  });
});
