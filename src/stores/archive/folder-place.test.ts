import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FolderPlace } from './folder-place.ts';

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
