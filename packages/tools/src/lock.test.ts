import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { lockOf } from './lock.ts';

const never = new AbortController().signal;

function newPath(): string {
  const place = mkdtempSync(join(tmpdir(), 'assize-lock-'));
  onTestFinished(() => rmSync(place, { recursive: true }));
  return join(place, '.lock');
}

test('a lock has one holder at a time, and the next one gets it on release', async () => {
  const path = newPath();
  const first = await lockOf(path, never);
  let isHeld = true;
  const second = lockOf(path, never).then((lock) => {
    expect(isHeld).toBe(false);
    return lock;
  });
  await expect(lockOf(path, AbortSignal.abort())).rejects.toMatchObject({
    name: 'NoAnswer',
    why: 'folder_in_use',
  });
  isHeld = false;
  first[Symbol.dispose]();
  (await second)[Symbol.dispose]();
});

test('a waiter that has waited long enough leaves, and blocks no other caller', async () => {
  const path = newPath();
  const first = await lockOf(path, never);
  const stop = new AbortController();
  const second = lockOf(path, stop.signal);
  stop.abort();
  await expect(second).rejects.toMatchObject({ why: 'folder_in_use' });
  first[Symbol.dispose]();
  (await lockOf(path, AbortSignal.abort()))[Symbol.dispose]();
});

test('a lock goes with its process, however that ends', async () => {
  const path = newPath();
  const script = `const { lockOf } = await import(${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'lock.ts')).href)});
    using lock = await lockOf(${JSON.stringify(path)}, new AbortController().signal);
    console.log('held');
    await new Promise(() => setInterval(() => {}, 1000));`;
  const other = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(other.stdout, 'data');
  await expect(lockOf(path, AbortSignal.abort())).rejects.toMatchObject({ why: 'folder_in_use' });
  other.kill('SIGKILL');
  (await lockOf(path, never))[Symbol.dispose]();
});

test('a path that can have no lock is reported as such', async () => {
  const path = join(newPath(), 'not/there');
  await expect(lockOf(path, never)).rejects.toThrow(/unable to open/);
});
