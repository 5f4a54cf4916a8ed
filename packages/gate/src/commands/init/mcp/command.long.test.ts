/** `assize init mcp` as a whole program, with a home of its own. */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';

const MAIN = join(import.meta.dirname, '../../../../../cli/src/main.ts');
const NOTES = { command: 'node', args: ['notes.mjs'], env: { KEY: 'secret-text' } };

let home: string;
let project: string;
let file: string;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'assize-init-mcp-')));
  onTestFinished(() => rmSync(home, { recursive: true }));
  project = join(home, 'project');
  mkdirSync(project);
  file = join(project, '.mcp.json');
});

function assize(...args: readonly string[]): { status: number | null; out: string; err: string } {
  const { ASSIZE_STORE: _, ...rest } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, 'init', 'mcp', ...args], {
    ...{
      cwd: project,
      env: { ...rest, HOME: home, NO_COLOR: '1' },
      encoding: 'utf8' as const,
      input: '',
    },
  });
  return { status, out: stdout, err: stderr };
}

const read = (): string => readFileSync(file, 'utf8');
const copies = (): string[] =>
  readdirSync(project).filter((name) => name.includes('.before-assize-'));
const tokens = (): string[] =>
  readdirSync(join(home, '.assize')).filter((name) => name.endsWith('.token'));

test('nothing is written before the person agrees, and then all can be undone', () => {
  const before = `{ "mcpServers": { "a": ${JSON.stringify(NOTES)}, "b": ${JSON.stringify(NOTES)} } }`;
  writeFileSync(file, before);
  expect(assize()).toMatchObject({ status: 2, err: expect.stringContaining('--yes') });
  expect([existsSync(join(home, '.assize')), read()]).toEqual([false, before]);
  const installed = assize('--yes');
  expect(installed).toMatchObject({
    status: 0,
    out: expect.stringContaining('a: is behind Assize now'),
  });
  expect(installed.out).toContain('Do not commit it');
  expect(installed.out).not.toContain('secret-text');
  const { command, args } = JSON.parse(read()).mcpServers.a;
  expect([command, args[0]]).toEqual([process.execPath, realpathSync(MAIN)]);
  expect(assize('--yes').out).toContain('a: is behind Assize already');
  expect([copies().length, tokens().length]).toEqual([1, 1]);
  expect(statSync(join(home, '.assize', tokens()[0]!)).mode & 0o777).toBe(0o600);
  expect(assize('--undo', '--yes', '--only', 'a').out).toContain('a: is as it was');
  expect(JSON.parse(read()).mcpServers.a).toEqual(NOTES);
  expect(assize('--undo', '--yes')).toMatchObject({
    status: 0,
    out: expect.stringContaining('b: is as it was'),
  });
  expect([read(), copies(), tokens()]).toEqual([before, [], []]);
  expect(assize('--undo', '--yes')).toMatchObject({ status: 2 });
});

test('the person’s changes after an installation stay, and are listed', () => {
  writeFileSync(file, JSON.stringify({ mcpServers: { a: NOTES } }));
  assize('--yes');
  const { mcpServers, ...others } = JSON.parse(read());
  writeFileSync(
    file,
    JSON.stringify({ ...others, mine: 1, mcpServers: { ...mcpServers, b: NOTES } }),
  );
  const undone = assize('--undo', '--yes');
  expect(undone).toMatchObject({ status: 0, out: expect.stringContaining('keeps these changes') });
  expect(undone.out).toContain(join(project, copies()[0]!));
  expect(JSON.parse(read())).toEqual({ mine: 1, mcpServers: { a: NOTES, b: NOTES } });
});

test('an undo needs the copy alone, whatever the address is', () => {
  const before = JSON.stringify({ mcpServers: { a: NOTES } });
  writeFileSync(file, before);
  assize('--yes', '--url', 'http://127.0.0.1:4571');
  expect(assize('--undo', '--yes', '--url', 'http://127.0.0.1:4572')).toMatchObject({ status: 0 });
  expect([read(), copies()]).toEqual([before, []]);
});

test('another program with the name of the gateway is reported as such', () => {
  const other = {
    command: '/tmp/x/assize',
    args: ['mcp', '--name', 'a', '--', 'node', 'evil.mjs'],
  };
  writeFileSync(file, JSON.stringify({ mcpServers: { a: other, b: NOTES } }));
  const says = 'it has a gateway that this command did not write';
  const { out } = assize('--yes');
  expect(out).toContain(`a: is left alone: ${says}`);
  expect(out).toContain('b: is behind Assize now');
  expect(JSON.parse(read()).mcpServers.a).toEqual(other);
  expect(assize('--check', '--only', 'a')).toMatchObject({
    status: 1,
    out: expect.stringContaining('No server answers'),
  });
});

test('a file that is not valid, or not there, is refused and left as it is', () => {
  expect(assize('none.json')).toMatchObject({
    status: 2,
    err: expect.stringContaining('There is no file none.json'),
  });
  writeFileSync(file, '{ "mcpServers": ');
  expect(assize('--yes')).toMatchObject({
    status: 2,
    err: expect.stringContaining('is not valid JSON'),
  });
  expect([read(), copies(), existsSync(join(home, '.assize'))]).toEqual([
    '{ "mcpServers": ',
    [],
    false,
  ]);
});
