import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { commandParts } from '../calls/shell-command.ts';
import { hookParts, runLater } from './later-parts.ts';
import { RUN_LATER } from './run-later.ts';

const project = realpathSync(mkdtempSync(join(tmpdir(), 'assize-later-')));
afterAll(() => rmSync(project, { recursive: true, force: true }));
const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: project });
git('init', '-q');

function write(name: string, text: string): void {
  mkdirSync(dirname(join(project, name)), { recursive: true });
  writeFileSync(join(project, name), text);
}

const file = (tool: string, name: string) =>
  runLater([{ server: 'files', tool, args: { path: join(project, name) } }]);
const isLater = async (name: string) => (await file('edit', name)).length === 1;

test.each([
  '.husky/pre-commit',
  '.githooks/pre-push',
  'pkg/.gitattributes',
  '.envrc',
  '.claude/commands/x.md',
  '.cursor/mcp.json',
  '.gemini/settings.json',
  '.vscode/tasks.json',
  '.github/workflows/ci.yml',
  '.idea/runConfigurations/x.xml',
  '.devcontainer/devcontainer.json',
  'lefthook.yml',
  '.pre-commit-config.yaml',
  '.bashrc',
  '.git/commondir',
  '.git/config.worktree',
  'src/bare/HEAD',
])('a write of %s is run later, and a reading is not', async (name) => {
  expect(await isLater(name)).toBe(true);
  expect(await file('read', name)).toEqual([]);
});

test.each(['src/a.ts', 'README.md', 'Makefile', 'package.json', 'docs/github.md'])(
  'a write of %s is not run later',
  async (name) => expect(await isLater(name)).toBe(false),
);

test('the hooks folder of a repository counts, and the scripts that hooks call', async () => {
  write('tools/hooks/pre-commit', '#!/bin/sh\nset -e\nsh scripts/check.sh && npm test\n');
  write(
    'scripts/check.sh',
    '#!/bin/sh\n. scripts/lib.sh\nnode tools/check.js\nnode --check src/a.js\nsh -n src/b.sh\n',
  );
  for (const name of ['tools/hooks/new', 'scripts/check.sh', 'scripts/lib.sh', 'tools/check.js'])
    expect(await isLater(name)).toBe(false);
  git('config', 'core.hooksPath', 'tools/hooks');
  for (const name of ['tools/hooks/new', 'scripts/check.sh', 'scripts/lib.sh', 'tools/check.js'])
    expect(await isLater(name)).toBe(true);
  for (const name of ['scripts/other.sh', 'src/a.js', 'src/b.sh'])
    expect(await isLater(name)).toBe(false);
});

test('husky keeps hooks in a folder below those that it runs', async () => {
  write('.husky/_/pre-commit', '#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n');
  write('.husky/pre-commit', 'bash ./scripts/husky.sh\n');
  git('config', 'core.hooksPath', '.husky/_');
  expect(await isLater('scripts/husky.sh')).toBe(true);
  expect(await isLater('.husky/_/pre-commit')).toBe(true);
});

test('the program that tells git of changed files counts, with its scripts', async () => {
  write('tools/changed', '#!/bin/sh\nsh scripts/ask.sh\n');
  const names = ['tools/changed', 'scripts/ask.sh'];
  for (const [value, expected] of [
    ['true', false],
    ['tools/changed', true],
  ] as const) {
    git('config', 'core.fsmonitor', value);
    for (const name of names) expect(await isLater(name)).toBe(expected);
  }
  git('config', '--unset', 'core.fsmonitor');
});

test.each([
  ['stash branch b', 'post-checkout', true],
  ['fetch origin', 'pre-auto-gc', true],
  ['fetch origin', 'pre-commit', false],
  ['push ../other main', 'update', true],
  ['commit -m x', 'update', false],
])('git %s may run the hook %s: %s', async (words, name, expected) => {
  git('config', 'core.hooksPath', `tools/${name}`);
  write(`tools/${name}/${name}`, '#!/usr/bin/env node\n');
  const parts = await hookParts(
    commandParts(`git ${words}`, { cwd: project }).map((part) => ({
      ...part,
      args: { ...part.args, cwd: project },
    })),
  );
  expect(parts.length).toBe(expected ? 1 : 0);
});

test('a command that writes such a file counts, and one that stages it not', async () => {
  const paths = [join(project, '.envrc')];
  const shell = (tool: string, more: object) =>
    runLater([{ server: 'shell', tool, args: { paths, ...more } }]);
  expect(await shell('cp', { class: 'irreversible' })).toEqual(paths);
  expect(await shell('git', { class: 'irreversible', command: 'restore' })).toEqual(paths);
  expect(await shell('git', { class: 'reversible', command: 'add' })).toEqual([]);
  const script = { class: 'irreversible', targets: ['.envrc'], cwd: project };
  for (const tool of ['sh', 'bash', 'node', 'python3'])
    expect(await shell(tool, script)).toEqual([]);
  expect(await shell('sh', { ...script, targets: ['fill.sh', '.envrc'] })).toEqual(paths);
  expect(await shell('cat', { class: 'read' })).toEqual([]);
});

test('a change of the scripts of a package is run later, and no other one', async () => {
  write('app/package.json', '{"version":"1.0.0","scripts":{"test":"node a.js"}}');
  const path = join(project, 'app/package.json');
  const isRun = async (tool: string, input: Readonly<Record<string, unknown>>) =>
    (await runLater([{ server: 'files', tool, args: { path } }], input as never)).length === 1;
  const edit = (old_string: string, new_string: string) => ({ old_string, new_string });
  const scripts = edit('node a.js', './x.sh');
  expect(await isRun('edit', edit('1.0.0', '1.0.1'))).toBe(false);
  expect(await isRun('edit', scripts)).toBe(true);
  expect(await isRun('edit', { edits: [edit('1.0.0', '1.0.1'), scripts] })).toBe(true);
  expect(await isRun('edit', edit('}}', '},"lint-staged":{}}'))).toBe(true);
  expect(await isRun('edit', edit('}', ''))).toBe(true);
  expect(await isRun('edit', { ...scripts, content: '{}' })).toBe(true);
  expect(await isRun('write', { content: '{ "scripts": { "test": "node a.js" } }' })).toBe(false);
  expect(await isRun('write', { content: '{}' })).toBe(true);
  const args = { paths: [path], class: 'irreversible' };
  expect(await runLater([{ server: 'shell', tool: 'sed', args }])).toEqual([path]);
  const none = { path: join(project, 'new/package.json') };
  expect(await runLater([{ server: 'shell', tool: 'write', args: none }])).toEqual([]);
});

test('each line has the address of its documentation', () => {
  for (const { source, paths } of RUN_LATER) {
    expect(new URL(source).protocol).toBe('https:');
    expect(paths).not.toEqual([]);
  }
});

test.each<[string, boolean]>([
  ["find . -name '*.js' -delete", false],
  ['find . -name pre-commit -exec sed -i s/a/b/ {} +', true],
  ['find . -name pre-commit -exec cat {} +', false],
  ['cp -r src copy', false],
  ['rm -r .husky', true],
  ['chmod -R a+x .', true],
])('what %s changes below a folder is run later: %s', async (command, expected) => {
  write('.husky/pre-commit', '#!/bin/sh\n');
  write('src/a.js', '');
  expect((await runLater(commandParts(command, { cwd: project }))).length > 0).toBe(expected);
});
