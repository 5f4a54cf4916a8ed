import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { contentOf } from './claude-code/call-of.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'assize-own-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let cwd: string;
let projects = 0;

beforeEach(() => {
  cwd = join(root, `p${projects++}`);
  mkdirSync(cwd);
});

function write(name: string, text: string): void {
  mkdirSync(dirname(join(cwd, name)), { recursive: true });
  writeFileSync(join(cwd, name), text);
}

/** The names of the parts of a call of Claude Code. */
async function partsOf(tool_name: string, tool_input: Record<string, unknown>): Promise<string[]> {
  const event = { session_id: 's', cwd, tool_name, tool_input };
  const { parts = [] } = await contentOf(event, false);
  return parts.map(({ server, tool }) => `${server}/${tool}`);
}

const bash = (command: string) => partsOf('Bash', { command });

const LINE = '"$(dirname "$0")/x.sh"';

test.each<[string, string, Record<string, string>, boolean]>([
  ['git commit -m x', 'with hooks that are known', { 'pre-commit': 'sh a.sh\nnpm test' }, false],
  ['git commit -m x', 'that evaluate a text', { 'pre-commit': 'eval "$X"' }, true],
  ['git commit -m x', 'that run what they find', { 'post-commit': LINE }, true],
  ['git commit -m x', 'that are long', { 'pre-commit': `#${'x'.repeat(70_000)}\nsh a.sh` }, true],
  ['git commit -m x', 'of Python', { 'pre-commit': '#!/usr/bin/env python3\nimport x\n' }, true],
  ['git commit -m x', 'with a script of Python', { 'pre-commit': 'python3 src/a.py' }, true],
  ['git commit -m x', 'with a script that is not told', { 'pre-commit': 'sh b.sh' }, true],
  ['git commit -m x', 'that run an unknown file', { 'pre-commit': './b.sh' }, true],
  ['git commit -m x', 'that run a file of Python', { 'pre-commit': 'src/b' }, true],
  ['git commit -m x', 'that run a known file', { 'pre-commit': './a.sh b.sh' }, false],
  [
    'git commit -m x',
    'with more scripts than are looked at',
    { 'pre-commit': Array.from({ length: 70 }, (_, i) => `sh s/${i}.sh`).join('\n') },
    true,
  ],
  ['git status', 'that do not run', { 'pre-commit': LINE }, false],
  ['git add a', 'that do not run', { 'pre-commit': LINE }, false],
  ['git add a', 'that each change runs', { 'post-index-change': LINE }, true],
  ['git commit -m x', 'that only a push runs', { 'pre-push': LINE }, false],
  ['git push origin main', 'that only a push runs', { 'pre-push': LINE }, true],
  ['git commit -m x', 'that are examples', { 'pre-commit.sample': LINE, 'README.md': LINE }, false],
])('%s runs text that is not known, hooks %s', async (command, _, hooks, expected) => {
  execFileSync('git', ['init', '-q', '--template='], { cwd });
  for (const [name, text] of Object.entries(hooks)) write(`.git/hooks/${name}`, text);
  write('a.sh', 'ls\n');
  write('b.sh', 'eval "$1"\n');
  write('src/a.py', '');
  write('src/b', '#!/usr/bin/env python3\n');
  expect((await bash(command)).includes('shell/dynamic')).toBe(expected);
  mkdirSync(join(cwd, 'sub'));
  expect((await bash(`cd sub && ${command}`)).includes('shell/dynamic')).toBe(expected);
});

test('Husky runs the hooks above its own ones', async () => {
  execFileSync('git', ['init', '-q', '--template='], { cwd });
  execFileSync('git', ['config', 'core.hooksPath', '.husky/_'], { cwd });
  write('.husky/_/pre-commit', '#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n');
  write('.husky/pre-commit', '. "$(dirname -- "$0")/_/husky.sh"\nnpm test\n');
  expect(await bash('git commit -m x')).not.toContain('shell/dynamic');
  write('.husky/pre-commit', 'eval "$X"\n');
  expect(await bash('git commit -m x')).toContain('shell/dynamic');
});

test('a work tree has the hooks of its repository', async () => {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b.c'];
  execFileSync('git', ['init', '-q', '--template='], { cwd });
  execFileSync('git', [...identity, 'commit', '-q', '--allow-empty', '-m', 'x'], { cwd });
  execFileSync('git', ['worktree', 'add', '-q', '../tree'], { cwd });
  write('.git/hooks/pre-commit', 'eval "$X"\n');
  cwd = join(root, 'tree');
  expect(await bash('git commit -m x')).toContain('shell/dynamic');
});

test.each([
  ...['/proc/self/cwd/a', '/proc/self/root/etc/hosts', '/proc/thread-self/cwd/a', '/proc/1/fd/3'],
  ...['/dev/fd/3', '/dev/stdin', '/proc/self/task/1/root/a', '//proc//self/cwd/a', 'link/a'],
])('where %s leads is known only when it is opened', async (path) => {
  symlinkSync('/proc/self/cwd', join(cwd, 'link'));
  expect(await partsOf('Read', { file_path: path })).toContain('shell/unparsed');
  expect(await partsOf('Grep', { pattern: 'x', path })).toContain('shell/unparsed');
  expect(await partsOf('Glob', { pattern: `${path}/*` })).toContain('shell/unparsed');
});

test.each(['/proc/cpuinfo', '/dev/null', '/proc/self/environ', 'a'])(
  'and %s is not',
  async (path) =>
    expect(await partsOf('Read', { file_path: path })).not.toContain('shell/unparsed'),
);

test.each([
  ...['rm -rf HOME/.assize', 'ls && rm -rf HOME/.assize; ls', 'cd HOME && rm -r .assize'],
  ...['rm -rf HOME', 'mv HOME other', "find HOME -name '*.jsonl' -delete", 'rm -rf HOME/.a*'],
  ...[
    'rm HOME/.assize/*.jsonl',
    ': > HOME/.assize/rules.unrecorded.jsonl',
    '(cd HOME/.assize; rm *)',
  ],
  ...['sh -c "rm -rf HOME/.assize"', 'ls | xargs rm -rf HOME/.assize', 'cat HOME/.assize/x.jsonl'],
  ...['truncate -s 0 HOME/.assize/x', 'for x in .assize; do rm -rf "HOME/$x"; done'],
])('%s uses the files of the server', async (command) => {
  write('home/.assize/rules.unrecorded.jsonl', '{}\n');
  expect(await bash(command.replaceAll('HOME', join(cwd, 'home')))).toContain(
    'claude-code/settings',
  );
});
