import { lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rootKeyFile, rootKeyOf } from './root-key.ts';

test('the mode of a created file does not depend on the umask', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-umask-'));
  const url = `sqlite:${folder}/a.db`;
  const before = process.umask(0);
  try {
    rootKeyOf(url, {});
  } finally {
    process.umask(before);
  }
  expect(lstatSync(rootKeyFile(url) as string).mode & 0o777).toBe(0o600);
  rmSync(folder, { recursive: true });
});
