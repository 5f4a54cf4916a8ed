/** The host's clock is two hours ahead for a moment, and then right again. */
import { expect, test, vi } from 'vitest';
import { onEveryDatabase } from '../../../../tests/support/ledger/stores.ts';
import { callOperation, pay, succeed } from '../../../../tests/support/server/calling.ts';
import { start } from '../../../../tests/support/server/serving.ts';
import { NoticeSink } from '../../../../tests/support/tools/notice-sink.ts';

const HOURS_MS = 2 * 3_600_000;
/** The most that a slow machine adds to a time. */
const SLACK_MS = 120_000;

const isNow = (time: string | number): boolean =>
  Math.abs(new Date(time).getTime() - Date.now()) < SLACK_MS;

async function inTwoHours<T>(work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOURS_MS });
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
}

onEveryDatabase(({ kind, newPlace }) => {
  test('when the clock is right again, everything works without a restart', async () => {
    await using sink = await NoticeSink.open();
    const webhook = { url: sink.url, secret: 'a-secret-of-24-characters', allowPrivate: true };
    const config = { notices: { webhooks: [webhook] } };
    const server = await start({ store: await newPlace().open(), config, stopsAlone: true });
    try {
      const isRefused = kind === 'postgres';
      await inTwoHours(async () => {
        const { status, body } = await callOperation(
          server,
          'proposals.create',
          pay('a', 1, 'ahead'),
        );
        const ready = await server.ask('GET', '/readyz');
        expect([status, body.code, ready.status, ready.body.code]).toEqual(
          isRefused ? [503, 'clock_ahead', 503, 'clock_ahead'] : [200, undefined, 200, undefined],
        );
      });
      expect((await server.ask('GET', '/readyz')).status).toBe(200);
      const asked = { ...pay('b', 200, 'ask'), path: { trajectory: 'spare' } };
      expect((await succeed(server, 'proposals.create', asked)).ruling).toBe('escalated');
      const [waiting] = (await succeed(server, 'approvals.list', { as: 'boss:ada' })).approvals;
      expect(new Date(waiting.expires).getTime() - Date.now()).toBeLessThan(
        7 * 86_400_000 + SLACK_MS,
      );
      await expect.poll(() => sink.received, { timeout: 10_000 }).toHaveLength(1);
      expect(
        sink.received.map(({ headers }) => isNow(Number(headers['webhook-timestamp']) * 1_000)),
      ).toEqual([true]);
      await succeed(server, 'proposals.create', pay('a', 1, 'right'));
      const entries = async (trajectory: string): Promise<string[]> =>
        (await server.store.entries(trajectory)).map(({ payload }) => JSON.parse(payload).at);
      // An entry of the jump keeps its time, and the later ones of its trajectory have it too.
      expect((await entries('main')).slice(1).map(isNow)).toEqual(
        isRefused ? [true] : [false, false],
      );
      expect((await entries('spare')).slice(1).map(isNow)).toEqual([true]);
    } finally {
      await server.stop();
    }
  });
});
