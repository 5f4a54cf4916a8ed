/** `assize init mcp` as a whole program, with a home of its own. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { listenOnLoopback } from '../../../../../../tests/support/agents/loopback.ts';

const MAIN = join(import.meta.dirname, '../../../main.ts');
const NOTES = { command: 'node', args: ['notes.mjs'] };

let home: string;
let project: string;
let file: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'assize-init-mcp-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  project = join(home, 'project');
  mkdirSync(project);
  file = join(project, '.mcp.json');
});

function assize(...args: readonly string[]) {
  return program('init', ...args);
}

function program(...args: readonly string[]): { status: number | null; out: string; err: string } {
  const { ASSIZE_STORE: _, CLAUDE_CONFIG_DIR: _folder, ...rest } = process.env;
  const env = { ...rest, HOME: home, NO_COLOR: '1' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    ...{ cwd: project, env, encoding: 'utf8' as const, input: '' },
  });
  return { status, out: stdout, err: stderr };
}

const own = (name: string): string => join(home, '.assize', name);
const originals = (): any[] => JSON.parse(readFileSync(own('mcp-originals.json'), 'utf8')).entries;
const write = (servers: object): void => writeFileSync(file, JSON.stringify({ mcpServers: servers }, undefined, 2));

test('a file that is away keeps its originals and its token', () => {
  write({ a: NOTES, b: NOTES });
  const before = readFileSync(file, 'utf8');
  expect(assize('mcp', 'claude-code', '--yes')).toMatchObject({ status: 0 });
  renameSync(file, `${file}.away`);
  const undone = assize('mcp', '--undo', '--yes');
  expect(undone).toMatchObject({ status: 1, out: expect.stringContaining('a: is left alone: the file is not there') });
  expect(undone.out).toContain(own('mcp-originals.json'));
  expect(assize('mcp', '--undo', '--yes', '--only', 'a')).toMatchObject({ status: 1 });
  expect(originals()).toHaveLength(2);
  expect(existsSync(own('tokens/claude-code.token'))).toBe(true);
  renameSync(`${file}.away`, file);
  expect(assize('mcp', '--undo', '--yes', '--only', 'a')).toMatchObject({ status: 0 });
  expect(originals()).toMatchObject([{ server: 'b' }]);
  expect(existsSync(own('tokens/claude-code.token'))).toBe(true);
  expect(assize('mcp', '--undo', '--yes')).toMatchObject({ status: 0 });
  expect([readFileSync(file, 'utf8'), existsSync(own('tokens/claude-code.token'))]).toEqual([before, false]);
});

test('an entry that is gone keeps its original', () => {
  write({ a: NOTES });
  assize('mcp', 'claude-code', '--yes');
  write({});
  expect(assize('mcp', '--undo', '--yes')).toMatchObject({
    status: 1,
    out: expect.stringContaining('not in the file'),
  });
  expect([originals().length, existsSync(own('tokens/claude-code.token'))]).toEqual([1, true]);
});

test('another program with the name of the gateway is told as such', () => {
  write({ a: { command: '/tmp/x/assize', args: ['mcp', '--name', 'a', '--', 'node', 'evil.mjs'] }, b: NOTES });
  const says = 'has a gateway that this command did not write';
  expect(assize('mcp').out).toContain(`a: ${says}`);
  const installed = assize('mcp', 'claude-code', '--yes').out;
  expect(installed).toContain(`a: is left alone: it ${says}`);
  expect(installed).toContain('b: is behind Assize now');
  expect(installed).toContain('Do not commit it');
  expect(assize('mcp').out).toMatch(/a: has a gateway.*\n {2}b: behind Assize as b/);
  const checked = assize('mcp', '--check', '--only', 'a');
  expect(checked).toMatchObject({ status: 1, out: expect.stringContaining(`a: it ${says}`) });
});

test('nothing is written or asked before the person agrees', async () => {
  const seen: (string | undefined)[] = [];
  const { url, close } = await listenOnLoopback(
    createServer((request, response) => {
      seen.push(request.url);
      response.end('{}');
    }),
  );
  onTestFinished(() => close());
  write({ a: { type: 'http', url: `${url}/mcp`, headers: { 'x-key': 'secret' } } });
  expect(assize('mcp', 'claude-code')).toMatchObject({ status: 2, err: expect.stringContaining('--yes') });
  expect([existsSync(own('')), seen]).toEqual([false, []]);
});

test('a token that was lost is made again, and else nothing changes', () => {
  write({ a: NOTES });
  assize('mcp', 'claude-code', '--yes', '--url', 'http://127.0.0.1:4571');
  const after = readFileSync(file, 'utf8');
  rmSync(own('tokens/claude-code.token'));
  expect(assize('mcp', 'claude-code', '--yes')).toMatchObject({ status: 0, out: expect.stringContaining('already') });
  expect(existsSync(own('tokens/claude-code.token'))).toBe(true);
  expect(readFileSync(file, 'utf8')).toBe(after);
  expect(assize('mcp', 'claude-code')).toMatchObject({ status: 0 });
});

test('the address of a new server is kept in its configuration', () => {
  const claude = join(home, 'claude');
  writeFileSync(claude, "#!/bin/sh\necho '2.1.332 (Claude Code)'\n");
  chmodSync(claude, 0o755);
  const hooks = ['claude-code', '--yes', '--claude', claude];
  const first = assize(...hooks, '--url', 'http://127.0.0.1:4571').out;
  expect(first).toMatch(/assize serve --config \S+assize\.config\.json\n/);
  expect(JSON.parse(readFileSync(own('assize.config.json'), 'utf8')).server.port).toBe(4571);
  const token = readFileSync(join(project, '.claude/settings.local.json'), 'utf8');
  expect(assize(...hooks).out).toMatch(/^Nothing to change\.\n/);
  expect(readFileSync(join(project, '.claude/settings.local.json'), 'utf8')).toBe(token);
  const other = assize(...hooks, '--url', 'http://127.0.0.1:4572').out;
  expect(other).toMatch(/assize serve .* --port 4572\n/);
  expect(other).toMatch(/token sign-in .* --url http:\/\/127\.0\.0\.1:4572\n/);
  write({ a: NOTES });
  assize('mcp', 'claude-code', '--yes');
  expect(JSON.parse(readFileSync(file, 'utf8')).mcpServers.a.args).toContain('http://127.0.0.1:4571');
});

test('a missing store is told with the configuration of the agents', () => {
  expect(program('undo', 'some-session').err).toContain('Create a sample store with assize demo.');
  write({ a: NOTES });
  assize('mcp', 'claude-code', '--yes');
  expect(program('undo', 'some-session').err).toContain(`--config ${own('assize.config.json')}`);
  expect(program('token', 'sign-in', '', '--config', own('assize.config.json')).err).toContain("has no principal ''");
});
