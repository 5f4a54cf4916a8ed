import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { canonicalPath, namedPaths } from './file-path.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'assize-paths-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));
mkdirSync(join(root, 'repo/src'), { recursive: true });
mkdirSync(join(root, 'secret/deep'), { recursive: true });
writeFileSync(join(root, 'secret/key'), '');
const link = (target: string, name: string) => symlinkSync(target, join(root, 'repo', name));
link('../secret', 'folder');
link(join(root, 'secret/key'), 'file');
link('../secret/new', 'dangling');
link('folder/deep', 'twice');
link('twice/..', 'up');
link('loop', 'loop');

const repo = join(root, 'repo');
const at = (path: string) => join(root, path);

describe('the named path is in lexical normal form', () => {
  test.each([
    ['src/a.ts', 'repo/src/a.ts'],
    ['./src//a.ts', 'repo/src/a.ts'],
    ['src/../b', 'repo/b'],
    ['../secret/key', 'secret/key'],
    ['~/x', 'repo/~/x'],
    ['', 'repo'],
    ['src/', 'repo/src'],
  ])('%j', async (given, path) =>
    expect(await canonicalPath(given, repo)).toEqual({ path: at(path) }),
  );

  test('an absolute path ignores the folder, and has one slash at its start', async () => {
    expect(await canonicalPath(`/${repo}/src`, '/other')).toEqual({ path: at('repo/src') });
    expect(await canonicalPath('../../..', '/a')).toEqual({ path: '/' });
  });
});

describe('symbolic links on the way give a second path', () => {
  test.each([
    ['folder/key', 'repo/folder/key', 'secret/key'],
    ['folder', 'repo/folder', 'secret'],
    ['file', 'repo/file', 'secret/key'],
    ['dangling', 'repo/dangling', 'secret/new'],
    ['folder/no/such', 'repo/folder/no/such', 'secret/no/such'],
    ['twice/a', 'repo/twice/a', 'secret/deep/a'],
    ['up/key', 'repo/up/key', 'secret/key'],
  ])('%j', async (given, path, resolved) =>
    expect(await canonicalPath(given, repo)).toEqual({ path: at(path), resolved: at(resolved) }),
  );

  test('a file tool takes back a name before it opens the path', async () => {
    expect(await canonicalPath('folder/../src', repo)).toEqual({ path: at('repo/src') });
  });

  test('a cycle of links opens no file, and a text with NUL neither', async () => {
    expect(await canonicalPath('loop/a', repo)).toEqual({ path: at('repo/loop/a') });
    expect(await canonicalPath('a\0b', repo)).toEqual({ path: at('repo/a\0b') });
  });
});

test('a relative folder is refused', async () => {
  await expect(canonicalPath('a', 'repo')).rejects.toMatchObject({ code: 'bad_argument' });
});

test('a name that begins with a home folder is read as both places', async () => {
  for (const start of ['~', '$HOME', '${HOME}', `~${userInfo().username}`])
    expect(await namedPaths(`${start}/none/x`, repo)).toEqual([
      at(`repo/${start}/none/x`),
      join(homedir(), 'none/x'),
    ]);
  expect(await namedPaths('~nobody-here/x', repo)).toEqual([at('repo/~nobody-here/x')]);
  expect(await namedPaths('src/~/x', repo)).toEqual([at('repo/src/~/x')]);
});
