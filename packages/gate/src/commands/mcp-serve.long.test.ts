/** `assize mcp --serve` as a process of its own, with clients of both eras. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  desksOf,
  type Era,
  textOf,
  waitingPayment,
  YES,
} from '../../../../tests/support/mcp/ledger-client.ts';
import { endOf } from '../../../../tests/support/process/command.ts';
import {
  type PrincipalName,
  start,
  type TestServer,
} from '../../../../tests/support/server/serving.ts';

const MAIN = join(import.meta.dirname, '../../../cli/src/main.ts');
const ENV = { NO_COLOR: '1', PATH: process.env['PATH'] ?? '' };

/** The file of a token. Only this user may read it. */
function tokenFile(server: TestServer, name: PrincipalName): string {
  const folder = mkdtempSync(join(tmpdir(), 'assize-mcp-serve-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'token');
  writeFileSync(file, server.tokens[name], { mode: 0o600 });
  return file;
}

function words(
  server: Pick<TestServer, 'url'>,
  file: string,
  ...more: readonly string[]
): string[] {
  return [MAIN, 'mcp', '--serve', '--url', server.url, '--token-file', file, ...more];
}

async function connect(
  args: readonly string[],
  era: Era,
): Promise<{ client: Client; faults: Error[] }> {
  const mode = era === 'legacy' ? 'legacy' : { pin: '2026-07-28' };
  const client = new Client(
    { name: 'test', version: '0' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode } },
  );
  const faults: Error[] = [];
  client.onerror = (error) => faults.push(error);
  client.setRequestHandler('elicitation/create', async () => YES as never);
  onTestFinished(() => client.close());
  const pipes = { command: process.execPath, args: [...args], env: ENV, stderr: 'ignore' as const };
  await client.connect(new StdioClientTransport(pipes));
  return { client, faults };
}

describe.each<Era>(['modern', 'legacy'])('with a %s client', (era) => {
  test('a person reads the inbox, decides, and verifies the ledger', async () => {
    const server = await start();
    const item = await waitingPayment(server);
    const { client, faults } = await connect(
      words(server, tokenFile(server, 'boss:ada'), '--decide'),
      era,
    );
    const call = (name: string, args: Record<string, unknown> = {}): Promise<any> =>
      client.callTool({ name, arguments: args });
    const { approvals } = (await call('approvals_list')).structuredContent;
    expect(approvals).toMatchObject([{ id: item.id }]);
    const [{ id: approval, digest }] = approvals;
    expect((await call('approvals_approve', { approval, digest })).structuredContent.ruling).toBe(
      'committed',
    );
    expect((await call('log_verify')).structuredContent.valid).toBe(true);
    expect((await desksOf(server)).a).toEqual({ sum: 500, by: 'boss:ada' });
    await server.stop();
    const down = await call('approvals_list');
    expect(down.isError).toBe(true);
    expect(textOf(down)).toContain('Start it with `assize serve`');
    expect((await client.listPrompts()).prompts).toHaveLength(3);
    expect(faults).toEqual([]);
  });
});

function startProcess(args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, args, { env: ENV, stdio: 'pipe' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

const HELLO = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '0' },
  },
};

test('the process prints protocol only, and ends with its client or a signal', async () => {
  const server = await start();
  const file = tokenFile(server, 'auditor:eve');
  for (const end of ['stdin', 'SIGTERM', 'SIGINT'] as const) {
    const child = startProcess(words(server, file));
    const ended = endOf(child);
    child.stdin?.write(`${JSON.stringify(HELLO)}\nno protocol\n`);
    await new Promise((resolve) => child.stdout?.once('data', resolve));
    if (end === 'stdin') child.stdin?.end();
    else child.kill(end);
    const { code, out: stdout } = await ended;
    const lines = stdout.trimEnd().split('\n');
    expect(
      lines.map((line) => JSON.parse(line).jsonrpc),
      end,
    ).toEqual(lines.map(() => '2.0'));
    expect(JSON.parse(lines[0] as string).result.serverInfo.name).toBe('assize');
    if (end === 'stdin') expect(code).toBe(0);
  }
});

test('a start that cannot be as asked for is refused', async () => {
  const server = await start();
  const agent = tokenFile(server, 'agent:scout');
  const open = tokenFile(server, 'boss:ada');
  chmodSync(open, 0o644);
  const nowhere = { url: 'http://127.0.0.1:1' };
  for (const [args, says] of [
    [words(server, agent, '--decide'), 'Only a person of the kind counselor decides'],
    [words(nowhere, agent, '--decide'), 'does not answer'],
    [words(server, open), `Others can read the token in ${open}`],
    [words(server, `${open}.none`), 'the file does not exist'],
    [words(server, agent, '--', 'npx', 'server'), 'leave --name and the command out'],
    [[MAIN, 'mcp', '--decide', '--name', 'a', '--', 'b'], 'Pass --decide only with --serve'],
    [[MAIN, 'mcp', '--', 'npx', 'server'], '--name NAME'],
    [[MAIN, 'mcp', '--name', 'a'], 'the command of the MCP server'],
  ] as const) {
    const { code, out: stdout, err: stderr } = await endOf(startProcess(args));
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(says);
    expect([code, stdout]).toEqual([2, '']);
  }
});
