/** `/mcp`: the ledger for MCP clients over HTTP. */

import { gateway } from '@assize/gate/internal/gateway';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Domain } from 'assize/internal/kernel';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type Era,
  pay,
  textOf,
  waitingPayment,
  YES,
} from '../../../../tests/support/mcp/ledger-client.ts';
import {
  type PrincipalName,
  start,
  type TestServer,
} from '../../../../tests/support/server/serving.ts';

async function connect(
  server: TestServer,
  as: PrincipalName,
  era: Era = 'modern',
): Promise<Client> {
  const mode = era === 'legacy' ? 'legacy' : 'auto';
  const capabilities = { elicitation: {} };
  const client = new Client(
    { name: 'test', version: '0' },
    { capabilities, versionNegotiation: { mode } },
  );
  client.setRequestHandler('elicitation/create', async () => YES as never);
  const headers = { authorization: `Bearer ${server.tokens[as]}` };
  onTestFinished(() => client.close());
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', server.url), { requestInit: { headers } }),
  );
  return client;
}

const call = (client: Client, name: string, args: Record<string, unknown> = {}): Promise<any> =>
  client.callTool({ name, arguments: args });

describe.each<Era>(['modern', 'legacy'])('with a %s client', (era) => {
  test('each client reads with the authority of its token, and none decides', async () => {
    const server = await start();
    const { id: approval, digest } = await waitingPayment(server);
    const eve = await connect(server, 'auditor:eve', era);
    expect((await call(eve, 'log_verify')).structuredContent.valid).toBe(true);
    const ada = await connect(server, 'boss:ada', era);
    expect((await call(ada, 'principals_me')).structuredContent).toMatchObject({
      name: 'boss:ada',
    });
    expect(textOf(await call(ada, 'approvals_approve', { approval, digest }))).toContain(
      'There is no tool',
    );
    const scout = await connect(server, 'agent:scout', era);
    const names = (await scout.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('approvals_list');
    expect(names).not.toContain('entries_list');
    expect(textOf(await call(scout, 'entries_list', { trajectory: 'main' }))).toContain(
      '(forbidden)',
    );
  });

  test('a long answer is read in parts by its principal alone', async () => {
    const server = await start();
    for (let n = 0; n < 120; n++) await pay(server, 1, `long-${n}`, `${n}`.padEnd(500, 'x'));
    const eve = await connect(server, 'auditor:eve', era);
    const first = await call(eve, 'entries_diff', { from: 'main@0', to: 'main@120' });
    const { answer, parts } = first.structuredContent;
    expect(parts).toBe(2);
    expect((await call(eve, 'answer_part', { answer, part: 2 })).structuredContent.part).toBe(2);
    const ada = await connect(server, 'boss:ada', era);
    expect(textOf(await call(ada, 'answer_part', { answer, part: 2 }))).toContain(
      'no longer stored',
    );
  });
});

test('a request without a token, or with a session, is refused', async () => {
  const server = await start();
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  expect((await server.ask('POST', '/mcp', { body })).body).toMatchObject({
    code: 'unauthenticated',
  });
  const cookie = await server.cookieFor('boss:ada');
  const headers = { cookie, origin: server.url };
  expect((await server.ask('POST', '/mcp', { body, headers })).body).toMatchObject({
    code: 'forbidden',
  });
});

test.each(['/mcp', '/mcp/notes'])(
  'a message to %s is strict JSON, and not compressed',
  async (path) => {
    const notes = { command: process.execPath };
    const config = {
      tools: [],
      worlds: { calls: { domain: 'gateway' } },
      mcp: { servers: { notes } },
    };
    const domains = [gateway({}) as unknown as Domain];
    const principals = { 'agent:ada': { kinds: ['agent'] } } as never;
    const server = await start({ config, domains, principals });
    const token = await server.tokenFor('agent:ada');
    const raw = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"a":2}}';
    const headers = { 'content-type': 'application/json' };
    const twice = await server.ask('POST', path, { token, raw, headers });
    expect([twice.status, twice.body.detail]).toEqual([
      400,
      expect.stringContaining('this name twice'),
    ]);
    const packed = await server.ask('POST', path, {
      token,
      raw,
      headers: { ...headers, 'content-encoding': 'gzip' },
    });
    expect([packed.status, packed.body.code]).toEqual([415, 'unsupported_media_type']);
  },
);
