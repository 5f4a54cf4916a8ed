/** Attack 41 of docs/design/threats.md: it takes as long as the server waits for a request. */
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { headOf } from '../support/server/raw-http.ts';
import { start } from '../support/server/serving.ts';

test('attack 41: headers or a body a byte at a time: 408, others unharmed', async () => {
  const server = await start();
  const host = `Host: 127.0.0.1:${server.port}`;
  const token = `Authorization: Bearer ${server.tokens['admin:ann']}`;
  const body = [host, token, 'Content-Type: application/json', 'Content-Length: 1000'];
  const beginnings = [headOf('GET', '/v1/me', [host]), `${headOf('POST', '/v1/verify', body)}\r\n`];
  const before = await server.contents();
  const slow = Array.from({ length: 40 }, async (_, n) => {
    const socket = connect(server.port, '127.0.0.1');
    let said = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    socket.on('error', () => undefined);
    // The server may end a connection to which the client still writes. That is not a failure.
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(beginnings[n % 2] as string);
    const drip = setInterval(
      () => socket.writable && socket.write(n % 2 === 0 ? 'X-A: b\r\n' : ' '),
      1_000,
    );
    await closed;
    clearInterval(drip);
    return said;
  });
  for (let n = 0; n < 20; n++) {
    expect(
      (await server.ask('GET', '/v1/me', { token: server.tokens['agent:scout'] })).status,
    ).toBe(200);
  }
  const answers = await Promise.all(slow);
  // The server looks for late requests every 30 s.
  for (const said of answers) expect(said.slice(0, 12)).toMatch(/^$|^HTTP\/1\.1 408/);
  expect(await server.contents()).toEqual(before);
});
