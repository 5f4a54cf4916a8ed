import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { asNobody } from '../../../tests/support/as-nobody.ts';
import { listing } from '../../../tests/support/files-stage.ts';
import { Snapshots } from './snapshot.ts';

const NOBODY = 65_534;

/** Of a folder with folders inside that take no files, which is not root's. */
function stage(): { readonly root: string; readonly snapshots: Snapshots; readonly place: string } {
  const place = mkdtempSync(join(tmpdir(), 'assize-snapshot-'));
  onTestFinished(() => rmSync(place, { recursive: true }));
  const root = join(place, 'repo');
  const inner = join(root, 'shut', 'inner');
  mkdirSync(inner, { recursive: true });
  for (const folder of [root, join(root, 'shut'), inner]) writeFileSync(join(folder, 'a.txt'), 'a');
  mkdirSync(join(root, 'open'));
  writeFileSync(join(root, 'open', 'b.txt'), 'b');
  if (process.geteuid!() === 0)
    for (const path of [place, root, ...Object.keys(listing(root)).map((at) => join(root, at))])
      chownSync(path, NOBODY, NOBODY);
  for (const folder of [inner, join(root, 'shut')]) chmodSync(folder, 0o555);
  return { root, snapshots: new Snapshots(root), place };
}

/** What is in it, and the modes of its folders. */
function standing(root: string): object {
  const modes = ['.', 'shut', 'shut/inner', 'open'].map((at) => statSync(join(root, at)).mode & 0o7777);
  return { found: listing(root), modes };
}

test.each<[string, (root: string) => Promise<void>]>([
  ['as they were', async () => undefined],
  [
    'opened by the command, and emptied',
    async (root) => {
      for (const folder of ['shut', 'shut/inner']) await chmod(join(root, folder), 0o700);
      await rm(join(root, 'shut'), { recursive: true });
    },
  ],
  ['shut by the command', (root) => chmod(join(root, 'open'), 0o500)],
])('folders inside that take no files are put back with their modes: %s', async (_, command) => {
  const { root, snapshots, place } = stage();
  const before = standing(root);
  await asNobody(async () => {
    for (const key of ['undone', 'cut off']) {
      await snapshots.take(key, 1);
      await command(root);
      await writeFile(join(root, 'a.txt'), 'changed');
      if (key === 'undone') {
        await snapshots.ended(key, null);
        expect(await snapshots.undo(key)).toEqual({ undone: 'all' });
      } else expect(await snapshots.settle(key)).toEqual({ happened: false });
      expect(standing(root)).toEqual(before);
    }
    // Copies of older transactions go, too.
    await snapshots.take('kept', 2);
    await snapshots.take('later', 3);
    await snapshots.forget('later');
  });
  expect(listing(join(place, '.assize-snapshots'))).toEqual({ 'repo/': '' });
});

test('a folder that the command has shut altogether is put back', async () => {
  const { root, snapshots } = stage();
  const before = standing(root);
  await asNobody(async () => {
    await snapshots.take('k', 1);
    await chmod(join(root, 'open'), 0);
    expect(await snapshots.settle('k')).toEqual({ happened: false });
  });
  expect(standing(root)).toEqual(before);
});
