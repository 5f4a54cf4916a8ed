import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FolderPlace } from './folder-place.ts';

test('a pipe or a device is not read, and a larger file only in part', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-place-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const place = new FolderPlace(folder);
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  symlinkSync('/dev/zero', join(folder, 'device'));
  for (const name of ['pipe', 'device'])
    await expect(place.read(name, 10)).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining('it is a pipe, a device or a folder'),
    });
  writeFileSync(join(folder, 'large'), 'x'.repeat(1_000));
  expect((await place.read('large', 10))?.toString()).toBe('x'.repeat(11));
  expect((await place.read('large', 1_000))?.length).toBe(1_000);
  expect((await place.read('large', 2_000))?.length).toBe(1_000);
  expect(await place.read('none', 10)).toBeUndefined();
});

test('a file is deleted with the draft that a crash has left', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-place-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const place = new FolderPlace(folder);
  await place.write('a', Buffer.from('text'));
  for (const name of ['a.part', 'b.part']) writeFileSync(join(folder, name), 'text');
  await place.remove('b');
  expect(readdirSync(folder).sort()).toEqual(['a', 'a.part']);
  await place.remove('a');
  expect(readdirSync(folder)).toEqual([]);
});
