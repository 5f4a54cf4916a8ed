import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { listenOnLoopback } from '../../../../../../tests/support/agents/loopback.ts';
import { filesOf, namedFile, type Places } from './clients.ts';
import { serverNameOf } from './names.ts';
import { remoteFault } from './probe.ts';
import { hasGateway, hasOwnGateway, type Wrappable, wrappable } from './wrap.ts';

const TERMS = { program: ['/node', '/assize.js'], url: 'http://127.0.0.1:4517', tokenFile: '/t' } as const;

test('address and headers of a server go into the environment', () => {
  const value = { type: 'http', url: 'https://x.test/mcp?key=secret', headers: { Authorization: 'Bearer secret' } };
  const { set, remove } = (wrappable(value, '/') as Wrappable).change('x', TERMS);
  expect(JSON.stringify(set['args'])).not.toContain('secret');
  expect(set).toMatchObject({
    type: 'stdio',
    env: { MCP_SERVER_URL: value.url, MCP_SERVER_HEADER_1: 'Bearer secret' },
  });
  expect(set['args']).toEqual(expect.arrayContaining(['--header', 'Authorization=MCP_SERVER_HEADER_1']));
  expect(remove).toEqual(['url', 'headers']);
  expect(hasOwnGateway(set, TERMS)).toBe(true);
});

test('a program that only has the name of the gateway is another one', () => {
  const { set } = (wrappable({ command: 'npx', args: ['x'] }, '/') as Wrappable).change('x', TERMS);
  expect([hasOwnGateway(set, TERMS), hasGateway(set)]).toEqual([true, true]);
  const args = set['args'] as string[];
  for (const other of [
    { ...set, command: '/tmp/x/assize', args: args.slice(1) },
    { ...set, args: args.map((word) => (word === TERMS.program[1] ? '/tmp/x/assize.js' : word)) },
    { ...set, args: args.map((word) => (word === TERMS.url ? 'http://127.0.0.1:9' : word)) },
    { ...set, args: args.map((word) => (word === TERMS.tokenFile ? '/tmp/t' : word)) },
  ])
    expect([hasOwnGateway(other, TERMS), hasGateway(other)]).toEqual([false, true]);
  expect(hasOwnGateway({ url: `${TERMS.url}/mcp/notes` }, TERMS)).toBe(true);
  expect(hasOwnGateway({ url: `${TERMS.url}.evil.test/mcp/notes` }, TERMS)).toBe(false);
});

test.each([
  [{ type: 'sse', url: 'https://x.test' }, 'SSE'],
  [{ url: 'https://x.test', oauth: { clientId: 'a' } }, 'OAuth'],
  [{ url: 'https://x.test', headersHelper: './token' }, 'OAuth'],
  [{ url: 'https://x.test', type: 'ws' }, 'unknown'],
  [{ command: 'npx -y server' }, 'shell'],
  [{ command: 'a', args: 'b' }, 'no list'],
  [{}, 'neither'],
])('%j is left alone', (value, why) => {
  expect(wrappable(value, '/')).toEqual({ why: expect.stringContaining(why) });
});

test('a file of a project is another server in another project', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-wrap-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'server.mjs'), '');
  const identity = (at: string, args: string[]) => (wrappable({ command: 'node', args }, at) as Wrappable).identity;
  expect(identity(folder, ['server.mjs'])).not.toBe(identity('/', ['server.mjs']));
  expect(identity(folder, ['-y', '@scope/server'])).toBe(identity('/', ['-y', '@scope/server']));
});

test('a name is known to rules, free, and none of the parts of calls', () => {
  const taken = new Map([['notes', 'one']]);
  expect(serverNameOf('notes', 'one', taken)).toBe('notes');
  expect(serverNameOf('notes', 'two', taken)).toBe('notes-2');
  expect(serverNameOf('My server.v2', 'x', taken)).toBe('My-server-v2');
  expect(serverNameOf('project:notes', 'x', taken)).toBe('project-notes');
  expect(serverNameOf('Files', 'x', taken)).toBe('mcp-Files');
  expect(serverNameOf('日本', 'x', taken)).toBe('server');
});

test('the files of each client on each system', () => {
  const places: Places = { home: '/h', project: '/p', platform: 'linux', env: {} };
  const paths = (client: Parameters<typeof filesOf>[0], more: Partial<Places> = {}) =>
    filesOf(client, { ...places, ...more }).map(({ path }) => path);
  expect(paths('claude-code')).toEqual(['/p/.mcp.json', '/h/.claude.json']);
  expect(paths('claude-desktop')).toEqual(['/h/.config/Claude/claude_desktop_config.json']);
  expect(paths('claude-desktop', { platform: 'darwin' })).toEqual([
    '/h/Library/Application Support/Claude/claude_desktop_config.json',
  ]);
  expect(paths('claude-desktop', { platform: 'win32', env: { APPDATA: '/d' } })).toEqual([
    '/d/Claude/claude_desktop_config.json',
  ]);
  expect(paths('cursor')).toEqual(['/p/.cursor/mcp.json', '/h/.cursor/mcp.json']);
  expect(paths('vscode')).toEqual(['/p/.vscode/mcp.json', '/h/.config/Code/User/mcp.json']);
  expect(paths('codex', { env: { CODEX_HOME: '/c' } })).toEqual(['/p/.codex/config.toml', '/c/config.toml']);
  const named = (path: string) => namedFile(path, undefined, places).client;
  expect(['/x/.mcp.json', '/x/.cursor/mcp.json', '/x/a.toml', '/x/a.json'].map(named)).toEqual([
    ...['claude-code', 'cursor', 'codex', 'other'],
  ]);
});

test('a server that asks for a sign-in, or that is away, is found out', async () => {
  const server = createServer((request, response) => {
    response.statusCode = request.headers['x-key'] === 'right' ? 200 : 401;
    response.end('{}');
  });
  const { url, close } = await listenOnLoopback(server);
  const fault = (headers: Record<string, string>, at = url) => remoteFault({ url: at, headers, hasVariables: false });
  expect(await fault({ 'x-key': 'right' })).toBeUndefined();
  expect(await fault({})).toContain('OAuth');
  expect(await fault({ 'x-key': 'wrong' })).toContain('401');
  await close();
  expect(await fault({})).toContain('did not answer');
  expect(await remoteFault({ url, headers: {}, hasVariables: true })).toBeUndefined();
});

test('the headers of a server go to no other address', async () => {
  const seen: (string | undefined)[] = [];
  const other = await listenOnLoopback(
    createServer((request, response) => {
      seen.push(String(request.headers['x-key']));
      response.end('{}');
    }),
  );
  const first = await listenOnLoopback(
    createServer((_, response) => response.writeHead(307, { location: other.url }).end()),
  );
  const fault = await remoteFault({ url: first.url, headers: { 'x-key': 'secret' }, hasVariables: false });
  expect(fault).toContain('another address');
  expect(seen).toEqual([]);
  await Promise.all([first.close(), other.close()]);
});
