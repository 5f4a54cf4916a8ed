import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { excluding, including, writeExclude } from './git-exclude.ts';

function folder(): string {
  const made = realpathSync(mkdtempSync(join(tmpdir(), 'assize-exclude-')));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

const git = (cwd: string, ...args: string[]) => spawnSync('git', args, { cwd, encoding: 'utf8' });

test('a file with a token is ignored in a clone, and no more after the undoing', () => {
  const top = folder();
  git(top, 'init', '-q');
  const list = join(top, '.git/info/exclude');
  mkdirSync(join(top, '.git/info'), { recursive: true });
  writeFileSync(list, '# own\n*.log\n');
  const file = join(top, 'part[1]/.claude/settings.local.json');
  mkdirSync(join(top, 'part[1]'));
  expect(excluding(file)?.after).toContain('/part\\[1\\]/.claude/settings.local.json*\n');
  writeExclude(excluding(file));
  mkdirSync(join(file, '..'));
  writeFileSync(file, '{}');
  writeFileSync(`${file}.before-assize-0`, '{}');
  expect(git(top, 'status', '--short').stdout).toBe('');
  expect(excluding(file)).toBeUndefined();
  writeExclude(including(file));
  expect(readFileSync(list, 'utf8')).toBe('# own\n*.log\n');
  expect(including(file)).toBeUndefined();
  expect(git(top, 'status', '--short').stdout).toContain('part[1]/');
});

test('nothing is excluded outside of a clone, or if it is ignored already', () => {
  const top = folder();
  const file = join(top, '.claude/settings.local.json');
  expect(excluding(file)).toBeUndefined();
  git(top, 'init', '-q');
  writeFileSync(join(top, '.gitignore'), '.claude/\n');
  expect(excluding(file)).toBeUndefined();
});
