/** `/mcp/NAME`: MCP clients over HTTP before a server in another process. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ADA, GRACE, type Served, served } from '../../../../tests/support/mcp/served-gateway.ts';

const SINK = join(import.meta.dirname, '../../tests/support/mcp/sink-server.ts');

const RULES = `
id: notes
trust: [notes]
rules:
  - { id: quick, allow: notes/add, where: [{ path: /text, is: quick }] }
  - { id: others, ask: notes/add, where: [{ path: /text, not: quick }] }
`;

async function serve(
  people?: Record<string, string>,
): Promise<{ place: Served; effects: () => string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-mcp-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const sink = join(folder, 'sink.txt');
  writeFileSync(sink, '');
  const notes = {
    command: process.execPath,
    args: [SINK, sink],
    ...(people !== undefined && { people, clientsSpeakForPeople: true }),
  };
  const place = await served(RULES, { mcp: { waitSeconds: 0, servers: { notes } } });
  return { place, effects: () => readFileSync(sink, 'utf8').split('\n').filter(Boolean) };
}

async function connect(
  { server, tokens }: Served,
  mode: 'auto' | 'legacy' = 'auto',
  elicits = false,
): Promise<Client> {
  const capabilities = elicits ? { elicitation: {} } : {};
  const client = new Client(
    { name: 'test', version: '0' },
    { capabilities, versionNegotiation: { mode } },
  );
  if (elicits)
    client.setRequestHandler('elicitation/create', async () => ({
      action: 'accept',
      content: { approve: true },
    }));
  const headers = { authorization: `Bearer ${tokens[ADA]}` };
  onTestFinished(() => client.close());
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp/notes', server.url), {
      requestInit: { headers },
    }),
  );
  return client;
}

const add = (client: Client, text: string) => client.callTool({ name: 'add', arguments: { text } });
const textOf = (result: any): string => result.content.map(({ text = '' }) => text).join();

describe.each<'auto' | 'legacy'>(['auto', 'legacy'])('a client over HTTP (%s)', (mode) => {
  test('calls are made once, and a held one after its approval', async () => {
    const { place, effects } = await serve();
    const client = await connect(place, mode);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['add']);
    expect(textOf(await add(client, 'quick'))).toBe('added quick');
    const held = await add(client, 'slow');
    expect(held.structuredContent).toMatchObject({ status: 'pending' });
    await place.approve((held.structuredContent as { approval: string }).approval);
    const other = await connect(place, mode);
    const ends = await Promise.all([add(client, 'slow'), add(other, 'slow')]);
    expect(ends.filter((end) => textOf(end) === 'added slow')).toHaveLength(1);
    expect(effects()).toEqual(['quick', 'slow']);
  });
});

test('a client that listens hears of an approved definition', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-mcp-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const notes = { command: process.execPath, args: [SINK, join(folder, 'sink.txt')] };
  const place = await served('id: notes\ndefault: allow\n', {
    mcp: { waitSeconds: 0, servers: { notes } },
  });
  const told = Promise.withResolvers<void>();
  const tools = { autoRefresh: false, onChanged: () => told.resolve() };
  const client = new Client(
    { name: 'test', version: '0' },
    { versionNegotiation: { mode: 'auto' }, listChanged: { tools } },
  );
  onTestFinished(() => client.close());
  const requestInit = { headers: { authorization: `Bearer ${place.tokens[ADA]}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp/notes', place.server.url), { requestInit }),
  );
  expect((await client.listTools()).tools).toEqual([]);
  await place.approve((await place.approvals())[0].id);
  await told.promise;
  expect(
    (await client.listTools(undefined, { cacheMode: 'refresh' })).tools.map(({ name }) => name),
  ).toEqual(['add']);
});

test('the person whom the configuration names decides at the client', async () => {
  const { place, effects } = await serve({ [ADA]: GRACE });
  const client = await connect(place, 'auto', true);
  expect(textOf(await add(client, 'slow'))).toBe('added slow');
  expect(effects()).toEqual(['slow']);
});

test('a request without the token of an agent reaches no server', async () => {
  const { place } = await serve();
  const ask = (token?: string, path = '/mcp/notes') =>
    place.server.ask('POST', path, { token, body: {} });
  expect((await ask()).status).toBe(401);
  expect((await ask(place.tokens[GRACE])).status).toBe(403);
  expect((await ask(place.tokens[ADA], '/mcp/other')).status).toBe(404);
  const cookie = await place.server.cookieFor(ADA);
  expect(
    (await place.server.ask('POST', '/mcp/notes', { headers: { cookie }, body: {} })).status,
  ).toBe(403);
});
