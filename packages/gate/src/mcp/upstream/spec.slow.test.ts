import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { limitedFetch } from './spec.ts';

const MEGABYTE = 'x'.repeat(1024 * 1024);

async function streaming(parts: readonly string[]): Promise<Response> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const part of parts) response.write(part);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return limitedFetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

test.each(['\n', '\r\n', '\r'])(
  'an event that does not end is cut off, with lines by %j',
  async (end) => {
    const endless = await streaming(Array.from({ length: 12 }, () => `data: ${MEGABYTE}${end}`));
    await expect(endless.text()).rejects.toThrow();
  },
);

test.each(['\n', '\r\n', '\r'])('a stream of many events passes, with lines by %j', async (end) => {
  const long = await streaming(Array.from({ length: 12 }, () => `data: ${MEGABYTE}${end}${end}`));
  expect((await long.text()).length).toBeGreaterThan(12 * MEGABYTE.length);
});
