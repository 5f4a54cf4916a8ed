/** Attacks 50, 51 and 67 of docs/design/threats.md: notices to wrong places, and wrong notices. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MemoryStore } from '@assize/testing/memory';
import { expect, onTestFinished, test } from 'vitest';
import type { Card } from '../../packages/server/src/card/card.ts';
import { mailText } from '../../packages/server/src/notices/mail/mail-notices.ts';
import { NoticeSender } from '../../packages/server/src/notices/notice-sender.ts';
import { openProposalsIn } from '../../packages/server/src/notices/open-proposals.ts';
import { receiversOf } from '../../packages/server/src/notices/receivers.ts';
import { sendWebhook } from '../../packages/server/src/notices/webhook/send-webhook.ts';
import { noticePorts } from '../support/ledger/notice-cards.ts';
import { desk, pay } from '../support/ledger/payments-desk.ts';
import { runtimeOver } from '../support/ledger/runtime.ts';
import { NoticeSink } from '../support/tools/notice-sink.ts';

const secret = 'a-secret-of-24-characters';
const message = { id: 'msg_1', timestamp: 1_774_256_400, body: '{"type":"approval.requested"}' };

/** A server on loopback that counts its requests. `location`: it redirects there. */
async function inside(
  location?: string,
): Promise<{ readonly origin: string; readonly count: () => number }> {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response
      .writeHead(location === undefined ? 200 : 302, location === undefined ? {} : { location })
      .end('secret page');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, count: () => requests };
}

test('attack 50: a webhook to a private address, by any form of it: nothing', async () => {
  const target = await inside();
  const { port } = new URL(target.origin);
  const forms = [
    '127.0.0.1',
    '0x7f.1',
    '2130706433',
    '[::1]',
    '[::ffff:127.0.0.1]',
    'localhost',
    '0.0.0.0',
  ];
  for (const host of forms) {
    const sending = sendWebhook({ url: `https://${host}:${port}/`, secret }, message);
    await expect(sending, host).rejects.toMatchObject({ code: 'receiver_forbidden' });
  }
  // A name that changes its address between the check and the connection.
  const answers = [['8.8.8.8'], ['127.0.0.1']];
  const resolve = async () =>
    (answers.shift() ?? ['127.0.0.1']).map((address) => ({ address, family: 4 }));
  const rebound = { url: `https://hook.example:${port}/`, secret };
  await sendWebhook(rebound, message, { resolve, timeoutMs: 200 }).catch(() => undefined);
  const redirecting = await inside(`${target.origin}/`);
  const redirected = sendWebhook(
    { url: `${redirecting.origin}/`, secret, allowPrivate: true },
    message,
  );
  const error = await redirected.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'receiver_refused' });
  expect(JSON.stringify([error, (error as Error).message])).not.toContain('secret page');
  expect([redirecting.count(), target.count()]).toEqual([1, 0]);
});

test('attack 51: a text of an agent in a mail: no header, no line of its own', () => {
  const texts = [
    'x\r\nBcc: eve@example.com\r\n\r\nApprove it',
    'a\u2028b\u0085c',
    'pay \u202e001 \u200bnow',
    'x'.repeat(9_000),
  ];
  for (const text of texts) {
    const cardWith = (said: string): Card => ({
      ...{ id: 'a'.repeat(64), digest: 'b'.repeat(64), of: 'proposal', seq: 1, page: '/inbox/x' },
      ...{ at: '2026-06-05T00:00:00.000000Z', is_gated: false, approvals: 1, approved_by: [] },
      ...{ role: { name: 'clerk', params: {} }, may_decide: false, action: said, title: said },
      ...{ trajectory_id: said, channel: said, detail: said, requester: said, effect: said },
      fields: [{ at: '/to', label: said, text: said }],
      undo: { can: true, by: said },
    });
    const honest = mailText(cardWith('d'), 'https://a.example/x');
    const { subject, text: body } = mailText(cardWith(text), 'https://a.example/x');
    const again = mailText(cardWith('d'), 'https://a.example/x', true);
    expect(again).toEqual({ ...honest, subject: 'Ends soon: d' });
    const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
    expect(subject).not.toMatch(/[\r\n]/);
    expect(`${subject}${body.replaceAll('\n', '')}`).not.toMatch(unseen);
    expect(body.split('\n')).toHaveLength(honest.text.split('\n').length);
    for (const line of body
      .split('\n')
      .filter((one) => one.includes(text.slice(0, 5).trim()) && text.length > 20))
      expect(line).toMatch(/^> /);
  }
});

test('attack 67: a thousand undeliverable notices: other notices arrive', async () => {
  const [bad, good] = [await NoticeSink.open(), await NoticeSink.open()];
  bad.answer = (response) =>
    response
      .writeHead(bad.of('approval.requested').at(-1).trajectory_id === 'last' ? 200 : 500)
      .end();
  const store = new MemoryStore();
  const assize = runtimeOver(store, [desk]);
  for (let n = 0; n < 1_000; n += 1) await pay(assize, `t${n}`, 900);
  const webhooks = [bad, good].map(({ url }) => ({ url, secret, allowPrivate: true }));
  const sender = new NoticeSender({
    store,
    receivers: receiversOf(webhooks, new Map()),
    openProposals: openProposalsIn(assize, () => undefined),
    decidersOf: async () => [],
    pageOf: (path) => `https://assize.example${path}`,
    rulingOf: (row) => assize.rulingAt(row),
    ...noticePorts(store, assize, [desk]),
    onFailure: () => undefined,
    pollMs: 10,
    retry: { firstMs: 60_000, maxMs: 60_000, attempts: 20 },
  });
  onTestFinished(async () => {
    await sender.stop(100);
    for (const sink of [bad, good]) await sink[Symbol.asyncDispose]();
  });
  await sender.start();
  await pay(assize, 'last', 900);
  sender.wake();
  for (const sink of [good, bad])
    await expect
      .poll(() => sink.received.at(-1)?.body.trajectory_id, { timeout: 30_000 })
      .toBe('last');
  expect(new Set(good.received.map(({ id }) => id)).size).toBe(1_001);
}, 60_000);
