/** `assize init claude-code` as a whole program, with a stand-in for Claude Code. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';

const MAIN = join(import.meta.dirname, '../../../../../cli/src/main.ts');

let home: string;
let project: string;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'assize-init-claude-')));
  onTestFinished(() => rmSync(home, { recursive: true }));
  project = join(home, 'project');
  mkdirSync(join(project, '.claude'), { recursive: true });
  writeFileSync(join(home, 'claude'), "#!/bin/sh\necho '2.1.332 (Claude Code)'\n");
  chmodSync(join(home, 'claude'), 0o755);
});

function assize(...args: readonly string[]): { status: number | null; out: string } {
  const { ASSIZE_STORE: _, CLAUDE_CONFIG_DIR: _folder, ...rest } = process.env;
  const env = { ...rest, HOME: home, NO_COLOR: '1' };
  const line = [MAIN, 'init', 'claude-code', '--claude', join(home, 'claude'), ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, line, {
    cwd: project,
    env,
    encoding: 'utf8',
    input: '',
  });
  return { status, out: stdout + stderr };
}

test('the check names every settings file that switches the hooks off', () => {
  const url = ['--url', 'http://127.0.0.1:1'];
  expect(assize('--yes', ...url)).toMatchObject({ status: 0 });
  const settings = join(project, '.claude/settings.local.json');
  expect(readFileSync(settings, 'utf8')).toContain('hook claude-code --url http://127.0.0.1:1 ');
  const told = assize('--check', ...url);
  expect(told).toMatchObject({ status: 1, out: expect.stringContaining('No server answers') });
  expect(told.out).not.toMatch(/lacks|gone|disableAllHooks/);
  const shared = join(project, '.claude/settings.json');
  writeFileSync(shared, '{"disableAllHooks":true}');
  expect(assize('--check', ...url).out).toContain(`${shared} has disableAllHooks`);
  expect(assize('--undo', '--yes')).toMatchObject({ status: 0 });
  expect(existsSync(settings)).toBe(false);
  writeFileSync(settings, '{ "model": "x" }');
  assize('--yes', ...url);
  writeFileSync(
    settings,
    JSON.stringify({ ...JSON.parse(readFileSync(settings, 'utf8')), mine: 1 }),
  );
  expect(assize('--undo', '--yes').out).toContain('keeps these changes');
  expect(JSON.parse(readFileSync(settings, 'utf8'))).toEqual({ model: 'x', mine: 1 });
});
