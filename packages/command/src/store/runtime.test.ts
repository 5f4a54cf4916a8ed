import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import { generateKeys } from 'assize/internal/canon';
import { Assize } from 'assize/internal/runtime';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withAssize } from './runtime.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-cli-runtime-'));
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

test('a runtime is closed after its work, also after a failure', async () => {
  const anchors = join(folder, 'anchors.json');
  writeFileSync(anchors, JSON.stringify([generateKeys().publicKey]));
  const close = vi.spyOn(Assize.prototype, 'close');
  const open = (work: () => Promise<number>) =>
    withAssize(new MemoryStore(), 'memory:', { domain: [], anchors, entryKey: [] }, work);
  expect(await open(async () => 1)).toBe(1);
  expect(close).toHaveBeenCalledTimes(1);
  await expect(open(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(close).toHaveBeenCalledTimes(2);
});
