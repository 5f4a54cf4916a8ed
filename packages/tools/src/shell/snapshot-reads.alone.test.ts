import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Snapshots } from './snapshot.ts';

vi.mock(import('node:fs/promises'), async (original) => {
  const real = await original();
  return { ...real, readFile: vi.fn(real.readFile) as never };
});

test('runs of a transaction read equally little; a later one deletes copies', async () => {
  const place = mkdtempSync(join(tmpdir(), 'assize-snapshot-'));
  onTestFinished(() => rmSync(place, { recursive: true }));
  const root = join(place, 'repo');
  mkdirSync(root);
  const snapshots = new Snapshots(root);
  const reads: number[] = [];
  for (let i = 0; i < 10; i++) {
    vi.mocked(readFile).mockClear();
    await snapshots.take(`k${i}`, 1);
    reads.push(vi.mocked(readFile).mock.calls.length);
    await snapshots.ended(`k${i}`, null);
  }
  expect(reads).toEqual([0, ...Array.from({ length: 9 }, () => 1)]);
  await snapshots.take('later', 2);
  expect(readdirSync(join(place, '.assize-snapshots', 'repo')).sort()).toEqual([
    'later',
    'later.json',
  ]);
});
