/** `assize mcp` as a process between a client and a server, each in a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ADA, GRACE, type Served, served } from '../../../../tests/support/mcp/served-gateway.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const MAIN = join(ROOT, 'packages/cli/src/main.ts');
const SINK = join(ROOT, 'packages/server/tests/support/mcp/sink-server.ts');

const RULES = `
id: notes
trust: [notes]
rules:
  - { id: quick, allow: notes/add, where: [{ path: /text, in: [quick, die-before, die-after, never, refuse] }] }
  - { id: others, ask: notes/add, where: [{ path: /text, not_in: [quick, die-before, die-after, never, refuse] }] }
`;

interface Desk {
  readonly client: Client;
  readonly pid: number;
  readonly effects: () => readonly string[];
}

async function connect(
  place: Served,
  folder: string,
  { elicits = false, words = [] as readonly string[] } = {},
): Promise<Desk> {
  const token = join(folder, 'ada.token');
  writeFileSync(token, place.tokens[ADA] as string, { mode: 0o600 });
  const sink = join(folder, 'sink.txt');
  writeFileSync(sink, '', { flag: 'a' });
  const own = [
    'mcp',
    '--name',
    'notes',
    '--url',
    place.server.url,
    '--token-file',
    token,
    '--wait',
    '0',
    ...words,
  ];
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, ...own, '--', process.execPath, SINK, sink],
    env: { NO_COLOR: '1', PATH: process.env['PATH'] ?? '' },
    stderr: 'ignore',
  });
  const capabilities = elicits ? { elicitation: {} } : {};
  const client = new Client(
    { name: 'test', version: '0' },
    { capabilities, versionNegotiation: { mode: 'auto' } },
  );
  if (elicits)
    client.setRequestHandler('elicitation/create', async () => ({
      action: 'accept',
      content: { approve: true },
    }));
  onTestFinished(() => client.close());
  await client.connect(transport);
  const effects = (): string[] => readFileSync(sink, 'utf8').split('\n').filter(Boolean);
  return { client, pid: transport.pid as number, effects };
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'assize-mcp-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const add = (client: Client, text: string) => client.callTool({ name: 'add', arguments: { text } });
const textOf = (result: any): string => result.content.map(({ text = '' }) => text).join();

describe('assize mcp', () => {
  test('a call is made, and a person at the client approves another one', async () => {
    const place = await served(RULES);
    const folder = temporaryFolder();
    const person = join(folder, 'grace.token');
    writeFileSync(person, place.tokens[GRACE] as string, { mode: 0o600 });
    const { client, effects } = await connect(place, folder, {
      elicits: true,
      words: ['--elicit-token-file', person],
    });
    expect(textOf(await add(client, 'quick'))).toBe('added quick');
    expect(textOf(await add(client, 'slow'))).toBe('added slow');
    expect(effects()).toEqual(['quick', 'slow']);
    const look = (path: string) => place.server.ask('GET', path, { token: place.tokens[GRACE] });
    const { entries } = (await look('/v1/trajectories/calls/entries')).body;
    const approved = entries.find(({ counselor }: { counselor?: string }) => counselor === GRACE);
    expect((await look(`/v1/entries/${approved.id}`)).text).toContain('"elicitation"');
  });

  test('a server over HTTP gets its address and its headers from variables', async () => {
    const place = await served(RULES, {
      mcp: { servers: { notes: { command: process.execPath, args: [SINK, '-'] } } },
    });
    const folder = temporaryFolder();
    const token = join(folder, 'ada.token');
    writeFileSync(token, place.tokens[ADA] as string, { mode: 0o600 });
    const own = [
      'mcp',
      '--name',
      'notes',
      '--url',
      place.server.url,
      '--token-file',
      token,
      '--wait',
      '0',
    ];
    const names = async (far: Record<string, string>, ...words: string[]): Promise<string[]> => {
      const transport = new StdioClientTransport({
        ...{
          command: process.execPath,
          args: [MAIN, ...own, '--upstream', 'FAR', ...words],
          stderr: 'ignore',
        },
        env: {
          NO_COLOR: '1',
          PATH: process.env['PATH'] ?? '',
          FAR: `${place.server.url}/mcp/notes`,
          ...far,
        },
      });
      const client = new Client(
        { name: 'test', version: '0' },
        { versionNegotiation: { mode: 'auto' } },
      );
      onTestFinished(() => client.close());
      await client.connect(transport);
      return (await client.listTools()).tools.map(({ name }) => name);
    };
    const secret = place.tokens[ADA] as string;
    expect(await names({ KEY: secret }, '--bearer', 'KEY')).toContain('add');
    expect(await names({ KEY: `Bearer ${secret}` }, '--header', 'Authorization=KEY')).toContain(
      'add',
    );
    await expect(names({ KEY: 'wrong' }, '--bearer', 'KEY')).rejects.toThrow();
  });

  test('a server gets the variables of its client, without those of Assize', async () => {
    const place = await served(RULES);
    const folder = temporaryFolder();
    const shown = join(folder, 'shown.json');
    const code = `require('node:fs').writeFileSync(${JSON.stringify(shown)}, JSON.stringify(process.env))`;
    const words = [
      'mcp',
      '--name',
      'notes',
      '--url',
      place.server.url,
      '--inherit-env',
      '--',
      process.execPath,
    ];
    const env = {
      PATH: process.env['PATH'] ?? '',
      OWN: 'mine',
      ASSIZE_TOKEN: place.tokens[ADA] as string,
    };
    await once(
      spawn(process.execPath, [MAIN, ...words, '-e', code], { env, stdio: 'ignore' }),
      'exit',
    );
    const seen = JSON.parse(readFileSync(shown, 'utf8'));
    expect(seen).toMatchObject({ OWN: 'mine' });
    expect(seen).not.toHaveProperty('ASSIZE_TOKEN');
  });

  test('a call in doubt is not made again after any crash', async () => {
    const place = await served(RULES);
    const folder = temporaryFolder();
    const first = await connect(place, folder);
    for (const text of ['die-before', 'die-after']) {
      const result = await add(first.client, text);
      expect(result.isError).toBe(true);
      expect(textOf(result)).toContain('assize api calls.settle --trajectory calls --call ');
      expect(textOf(await add(first.client, text))).toContain(
        /The call \S+ is not made again/.exec(textOf(result))?.[0],
      );
    }
    // The server is started again for other calls.
    expect(textOf(await add(first.client, 'quick'))).toBe('added quick');
    // The gateway dies while the server does not answer.
    const lost = add(first.client, 'never').catch(() => 'lost');
    await expect.poll(first.effects, { timeout: 10_000 }).toContain('never');
    process.kill(first.pid, 'SIGKILL');
    expect(await lost).toBe('lost');
    const second = await connect(place, folder);
    expect(textOf(await add(second.client, 'never'))).toContain('is not made again');
    expect(textOf(await add(second.client, 'die-after'))).toContain('is not made again');
    expect(second.effects()).toEqual(['die-after', 'quick', 'never']);
  });

  test('two gateways take up one approval, and one of them makes the call', async () => {
    const place = await served(RULES);
    const folder = temporaryFolder();
    const both = [await connect(place, folder), await connect(place, folder)] as const;
    const asked = await add(both[0].client, 'slow');
    expect(asked.structuredContent).toMatchObject({ status: 'pending' });
    expect((await add(both[1].client, 'slow')).structuredContent).toEqual(asked.structuredContent);
    await place.approve((asked.structuredContent as { approval: string }).approval);
    const ends = await Promise.all(both.map(({ client }) => add(client, 'slow')));
    expect(ends.filter((end) => textOf(end) === 'added slow')).toHaveLength(1);
    expect(both[0].effects()).toEqual(['slow']);
  });
});
