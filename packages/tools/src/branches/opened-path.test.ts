import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newFolder, put } from '../../../../tests/support/tools/files-stage.ts';
import { copyOpened, namesAt, withOpened } from './opened-path.ts';

test('an opened path gives the opened file, even if a link replaces it', async () => {
  const around = realpathSync(newFolder());
  onTestFinished(() => rmSync(around, { recursive: true }));
  const root = join(around, 'root');
  mkdirSync(root);
  put(root, 'file', 'inside');
  put(root, 'folder/a', 'inside');
  const outside = join(dirname(root), 'outside');
  put(outside, 'a', 'secret');
  const swap = (name: string, to: string): void => {
    renameSync(join(root, name), join(root, `${name}.moved`));
    symlinkSync(to, join(root, name));
  };
  const target = join(dirname(root), 'target');
  await withOpened(join(root, 'file'), 'file', async (held) => {
    swap('file', join(outside, 'a'));
    await copyOpened(held as any, target);
  });
  expect(readFileSync(target, 'utf8')).toBe('inside');
  await withOpened(join(root, 'folder'), 'folder', async (held) => {
    swap('folder', outside);
    const { place } = held as any;
    expect(readFileSync(join(place, 'a'), 'utf8')).toBe('inside');
    expect(await namesAt(place, 'folder')).toEqual(['a']);
  });
  await withOpened(join(root, 'file'), 'file', async (held) => {
    expect(held).toEqual({ is: 'link', to: join(outside, 'a') });
  });
});
