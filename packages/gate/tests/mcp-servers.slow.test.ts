/** Real MCP servers of npm behind the gateway, with a client of each protocol. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type Connecting,
  clientOf,
  type Served,
  served,
} from '../../../tests/support/mcp/served-gateway.ts';
import { Gateway, upstreamOf } from '../src/mcp/index.ts';

const PEERS = join(import.meta.dirname, '../../peers/node_modules');
const MODULES = {
  filesystem: '@modelcontextprotocol/server-filesystem/dist/index.js',
  everything: '@modelcontextprotocol/server-everything/dist/index.js',
  memory: '@modelcontextprotocol/server-memory/dist/index.js',
  'sequential-thinking': '@modelcontextprotocol/server-sequential-thinking/dist/index.js',
  context7: '@upstash/context7-mcp/dist/index.js',
};
type Name = keyof typeof MODULES;

const RULES = `
id: notes
trust: [notes]
default: allow
tools:
  notes/write_file: { class: reversible, writes: /path }
  notes/prompts.get: { class: read }
  notes/resources.read: { class: read }
  notes/resources.subscribe: { class: read }
  notes/elicitation.create: { class: reversible }
  notes/sampling.create: { class: reversible }
rules:
  - { id: writes, ask: notes/write_file }
  - { id: removal, deny: notes/move_file }
`;

const absent = (name: Name): boolean => !existsSync(join(PEERS, MODULES[name]));
const titled = (name: Name): string =>
  `${name}${absent(name) ? ' (absent without npm ci --prefix peers)' : ''}`;

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'assize-mcp-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

async function facing(
  name: Name,
  args: string[] = [],
  env: Record<string, string> = {},
  more: Pick<Connecting, 'era' | 'client' | 'questions'> = {},
) {
  const place: Served = await served(RULES);
  const command = { command: process.execPath, args: [join(PEERS, MODULES[name]), ...args], env };
  const warnings: string[] = [];
  const onWarning = (text: string): void => void warnings.push(text);
  const upstream = upstreamOf(command, { version: '0', questions: more.questions, onWarning });
  const gateway = new Gateway({ upstream, desk: place.desk(), limits: { waitMs: 0 }, onWarning });
  const made = await clientOf(gateway, more);
  onTestFinished(() => made.close());
  return { place, command, ...made };
}

/** The names that a client without the gateway is shown. */
async function bareNames({
  command,
  args,
  env,
}: {
  command: string;
  args: string[];
  env: Record<string, string>;
}) {
  const client = new Client(
    { name: 'bare', version: '0' },
    { versionNegotiation: { mode: 'auto' } },
  );
  await client.connect(new StdioClientTransport({ command, args, env, stderr: 'ignore' }));
  const { tools } = await client.listTools();
  await client.close();
  return tools.map(({ name }) => name);
}

const textOf = (result: any): string => result.content.map(({ text = '' }) => text).join();

describe('real servers', () => {
  test.skipIf(absent('filesystem'))(titled('filesystem'), async () => {
    const home = folder();
    const { place, client, command } = await facing('filesystem', [home]);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual((await bareNames(command)).filter((name) => name !== 'move_file'));
    writeFileSync(join(home, 'a.txt'), 'one');
    const read = { name: 'read_text_file', arguments: { path: join(home, 'a.txt') } };
    expect(textOf(await client.callTool(read))).toContain('one');
    const write = { name: 'write_file', arguments: { path: join(home, 'b.txt'), content: 'two' } };
    const held = await client.callTool(write);
    expect(held.structuredContent).toMatchObject({ status: 'pending' });
    expect(existsSync(join(home, 'b.txt'))).toBe(false);
    await place.approve((held.structuredContent as { approval: string }).approval);
    expect(textOf(await client.callTool(write))).toContain('Successfully wrote');
    expect(readFileSync(join(home, 'b.txt'), 'utf8')).toBe('two');
    expect(textOf(await client.callTool({ name: 'move_file', arguments: {} }))).toContain(
      'no tool move_file',
    );
  });

  test.skipIf(absent('everything')).each<NonNullable<Connecting['era']>>(['modern', 'legacy'])(
    `${titled('everything')}, with a %s client`,
    async (era) => {
      const { client } = await facing('everything', [], {}, { era });
      const { tools } = await client.listTools();
      expect(tools.length).toBeGreaterThan(5);
      expect(
        textOf(await client.callTool({ name: 'echo', arguments: { message: 'hi' } })),
      ).toContain('hi');
      const { prompts } = await client.listPrompts();
      const simple = prompts.find(({ arguments: args = [] }) => args.length === 0);
      expect(
        (await client.getPrompt({ name: simple?.name ?? '' })).messages.length,
      ).toBeGreaterThan(0);
      const { resources } = await client.listResources();
      const [first] = resources;
      expect(
        (await client.readResource({ uri: first?.uri ?? '' })).contents.length,
      ).toBeGreaterThan(0);
      expect((await client.listResourceTemplates()).resourceTemplates.length).toBeGreaterThan(0);
      const long = tools.find(({ name }) => /long-?running/i.test(name))?.name ?? '';
      const seen: number[] = [];
      const onprogress = ({ progress }: { progress: number }): void => void seen.push(progress);
      await client.callTool({ name: long, arguments: { duration: 1, steps: 3 } }, { onprogress });
      // The SDK drops a sign of progress that comes together with the result.
      expect(seen.slice(0, 2)).toEqual([1, 2]);
    },
  );

  test.skipIf(absent('everything')).each<NonNullable<Connecting['era']>>(['modern', 'legacy'])(
    `${titled('everything')}asks a %s client`,
    async (era) => {
      const more: Parameters<typeof facing>[3] = {
        ...{ era, questions: ['elicitation', 'sampling'] },
        client: { capabilities: { elicitation: {}, sampling: {} } },
      };
      const { client, place } = await facing('everything', [], {}, more);
      const asked: string[] = [];
      client.setRequestHandler('elicitation/create', async ({ params: { message } }) => {
        asked.push(message);
        return { action: 'accept', content: { name: 'Ada' } };
      });
      client.setRequestHandler('sampling/createMessage', async ({ params: { messages } }) => {
        asked.push(JSON.stringify(messages));
        return { model: 'none', role: 'assistant', content: { type: 'text', text: 'sampled' } };
      });
      const names = (await client.listTools()).tools.map(({ name }) => name);
      const named = (part: RegExp): string => names.find((name) => part.test(name)) ?? '';
      const elicited = await client.callTool({
        name: named(/^trigger-elicitation-request$/),
        arguments: {},
      });
      expect(textOf(elicited)).toContain('Ada');
      const prompt = { prompt: 'a question', maxTokens: 5 };
      const sampled = await client.callTool({
        name: named(/^trigger-sampling-request$/),
        arguments: prompt,
      });
      expect(textOf(sampled)).toContain('sampled');
      expect(asked[0]).toMatch(/^The server notes asks: /);
      expect(asked[1]).toContain('a question');
      const calls = Object.values<any>((await place.state()).calls);
      expect(calls.map(({ tool }) => tool)).toContain('notes/sampling.create');
    },
  );

  test.skipIf(absent('everything'))(
    `${titled('everything')}has a resource that changes`,
    async () => {
      const { client } = await facing('everything', [], {}, { era: 'legacy' });
      const updated: string[] = [];
      client.setNotificationHandler(
        'notifications/resources/updated',
        ({ params }) => void updated.push(params.uri),
      );
      const uri = 'demo://resource/dynamic/text/1';
      await client.subscribeResource({ uri });
      await client.callTool({ name: 'toggle-subscriber-updates', arguments: {} });
      await expect.poll(() => updated, { timeout: 12_000 }).toContain(uri);
    },
  );

  test.skipIf(absent('memory'))(titled('memory'), async () => {
    const { client, command } = await facing('memory', [], {
      MEMORY_FILE_PATH: join(folder(), 'memory.jsonl'),
    });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(
      await bareNames(command),
    );
    const entities = [{ name: 'ada', entityType: 'agent', observations: ['writes'] }];
    await client.callTool({ name: 'create_entities', arguments: { entities } });
    expect(JSON.stringify(await client.callTool({ name: 'read_graph', arguments: {} }))).toContain(
      'writes',
    );
    expect(textOf(await client.callTool({ name: 'create_entities', arguments: {} }))).toContain(
      'are not valid',
    );
  });

  test.skipIf(absent('sequential-thinking'))(titled('sequential-thinking'), async () => {
    const { client } = await facing('sequential-thinking');
    const thought = {
      thought: 'one',
      nextThoughtNeeded: false,
      thoughtNumber: 1,
      totalThoughts: 1,
    };
    const result = await client.callTool({ name: 'sequentialthinking', arguments: thought });
    expect(result.isError).not.toBe(true);
    expect(textOf(result)).toContain('"thoughtNumber": 1');
  });

  test.skipIf(absent('context7'))(titled('context7'), async () => {
    const { client, command } = await facing('context7');
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(
      await bareNames(command),
    );
  });
});
