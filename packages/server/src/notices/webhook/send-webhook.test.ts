import { createHmac } from 'node:crypto';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { sendWebhook } from './send-webhook.ts';

const secret = 'a-secret-of-24-characters';
const message = { id: 'msg_1', timestamp: 1_774_256_400, body: '{"type":"approval.requested"}' };

interface Received {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A receiver on loopback, with its own list of requests. */
async function receiver(answer: (response: ServerResponse) => void = (response) => response.end()) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      received.push({ headers: request.headers, body });
      answer(response);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { received, port, url: `http://127.0.0.1:${port}/hook` };
}

const from = (...addresses: readonly string[]) => {
  const found: readonly LookupAddress[] = addresses.map((address) => ({
    address,
    family: address.includes(':') ? 6 : 4,
  }));
  return { resolve: async () => found };
};

test('a request is signed as Standard Webhooks says', async () => {
  const { received, url } = await receiver();
  const key = Buffer.from('twenty-four bytes of key');
  for (const [given, bytes] of [
    [secret, Buffer.from(secret)],
    [`whsec_${key.toString('base64')}`, key],
  ] as const) {
    await sendWebhook({ url, secret: given, allowPrivate: true }, message);
    const { headers, body } = received.at(-1)!;
    expect(body).toBe(message.body);
    const signed = createHmac('sha256', bytes).update(`msg_1.1774256400.${body}`).digest('base64');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': 'msg_1',
      'webhook-timestamp': '1774256400',
      'webhook-signature': `v1,${signed}`,
    });
  }
});

test.each([
  'https://127.0.0.1/',
  'https://0x7f.1/',
  'https://2130706433/',
  'https://017700000001/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://169.254.169.254/latest/meta-data/',
  'https://10.0.0.1/',
  'https://localhost/',
  'https://0.0.0.0/',
  'http://8.8.8.8/',
])('nothing is sent to %s', async (url) => {
  const error = await sendWebhook({ url, secret }, message).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'receiver_forbidden' });
});

test('a name with one private address is forbidden, whatever its others are', async () => {
  for (const addresses of [
    ['127.0.0.1'],
    ['8.8.8.8', '10.0.0.1'],
    ['::ffff:127.0.0.1'],
    ['169.254.169.254'],
    [],
  ]) {
    const sending = sendWebhook(
      { url: 'https://hook.example/', secret },
      message,
      from(...addresses),
    );
    await expect(sending, addresses.join()).rejects.toMatchObject({ code: 'receiver_forbidden' });
  }
});

test('the connection goes to the address that was checked, and asks once', async () => {
  const { received, port } = await receiver();
  let asked = 0;
  const resolve = async (): Promise<LookupAddress[]> => {
    asked += 1;
    return [{ address: asked === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }];
  };
  await sendWebhook({ url: `http://hook.example:${port}/`, secret, allowPrivate: true }, message, {
    resolve,
  });
  expect([asked, received.length]).toEqual([1, 1]);
});

test('a private receiver is allowed by its setting, and metadata never is', async () => {
  const { received, port, url } = await receiver();
  await sendWebhook({ url, secret, allowPrivate: true }, message);
  expect(received).toHaveLength(1);
  for (const [to, addresses] of [
    ['https://169.254.169.254/', []],
    ['https://hook.example/', ['169.254.169.254']],
    [`http://hook.example:${port}/`, ['8.8.8.8']],
  ] as const) {
    const sending = sendWebhook(
      { url: to, secret, allowPrivate: true },
      message,
      from(...addresses),
    );
    await expect(sending).rejects.toMatchObject({ code: 'receiver_forbidden' });
  }
});

test('a redirect is not followed', async () => {
  const inner = await receiver();
  const { url } = await receiver((response) => {
    response.writeHead(307, { location: inner.url }).end();
  });
  const error = await sendWebhook({ url, secret, allowPrivate: true }, message).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({
    code: 'receiver_refused',
    evidence: { status: 307 },
    retryable: true,
  });
  expect(inner.received).toEqual([]);
});

test.each([400, 404, 410, 500, 503])(
  'the status %i is an error without the answer',
  async (status) => {
    const { url } = await receiver((response) => {
      response.writeHead(status).end('the private page');
    });
    const error = await sendWebhook({ url, secret, allowPrivate: true }, message).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 'receiver_refused', evidence: { status } });
    expect(JSON.stringify(error) + String(error)).not.toContain('private page');
  },
);

test('a receiver that does not answer in time, or hangs up, is unreachable', async () => {
  const slow = await receiver(() => undefined);
  const hangs = await receiver((response) => response.destroy());
  const closed = { url: 'http://127.0.0.1:1/' };
  for (const { url } of [slow, hangs, closed]) {
    const sending = sendWebhook({ url, secret, allowPrivate: true }, message, { timeoutMs: 200 });
    await expect(sending).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringMatching(/The mail server did not accept|The webhook could not be/),
      retryable: true,
    });
  }
});

test('an answer that never ends does not delay the delivery', async () => {
  const { url } = await receiver((response) => {
    response.writeHead(200).write('x'.repeat(100_000));
  });
  await sendWebhook({ url, secret, allowPrivate: true }, message, { timeoutMs: 5_000 });
});

test('a receiver without a trusted certificate gets nothing', async () => {
  const { received, port } = await receiver();
  const sending = sendWebhook(
    { url: `https://127.0.0.1:${port}/`, secret, allowPrivate: true },
    message,
  );
  await expect(sending).rejects.toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining('The webhook could not'),
  });
  expect(received).toEqual([]);
});
