import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { newFolder } from '../../../../tests/support/tools/files-stage.ts';
import { canonical, type Root, rootAt } from './root.ts';

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true });
});

/** A root in a folder of its own, in which a file stands beside it. */
function rootBeside(file: string): string {
  const outside = newFolder();
  made.push(outside);
  writeFileSync(join(outside, file), 'precious');
  mkdirSync(join(outside, 'root'));
  return join(outside, 'root');
}

test('a link in a root that was given so leads to nothing that is written', () => {
  const root = rootBeside('precious');
  mkdirSync(join(root, '.assize'));
  symlinkSync('../../precious', join(root, '.assize', 'probe-\u00e9'));
  rootAt(root);
  expect(readFileSync(join(root, '../precious'), 'utf8')).toBe('precious');
});

test('a pipe in a root that was given so is not opened', () => {
  const root = rootBeside('precious');
  mkdirSync(join(root, '.assize'));
  const pipe = join(root, '.assize', 'probe-\u00e9');
  execFileSync('mkfifo', [pipe]);
  // A process that opens the pipe waits for this reader, and not forever.
  const reader = spawn('cat', [pipe], { stdio: 'ignore' });
  try {
    rootAt(root);
    expect(existsSync(pipe)).toBe(true);
  } finally {
    reader.kill();
  }
});

test('a root with a link as its own folder is refused, for any link target', () => {
  for (const target of ['..', 'inside', 'nowhere']) {
    const root = rootBeside('precious');
    mkdirSync(join(root, 'inside'));
    symlinkSync(target, join(root, '.assize'));
    expect(() => rootAt(root)).toThrow(expect.objectContaining({ reason: 'invalid_tool' }));
    expect(readdirSync(dirname(root)).sort()).toEqual(['precious', 'root']);
    expect(readdirSync(join(root, 'inside'))).toEqual([]);
  }
});

test('a root is probed without a trace, even during another process’s probe', () => {
  const root = rootBeside('precious');
  mkdirSync(join(root, '.assize'));
  writeFileSync(join(root, '.assize', 'probe-\u00e9'), '');
  rootAt(root);
  expect(readdirSync(join(root, '.assize'))).toEqual(['probe-\u00e9']);
});

test('another name that is a link does not tell that names fold', () => {
  const root = rootBeside('precious');
  symlinkSync('.assize', join(root, '.ASSIZE'));
  expect(rootAt(root).foldsCase).toBe(false);
});

test.each(['.ASSIZE', '.a\u017f\u017fize', '.as\u200csize', '.\uff41ssize-x'])(
  '%j is kept for the tools where it is one name with theirs',
  (name) => {
    const folding: Root = { path: rootBeside('precious'), foldsCase: true, foldsForm: true };
    expect(canonical(folding, `${name}/files/x`)).toEqual({
      problem: expect.stringMatching(/reserved for/),
    });
  },
);
