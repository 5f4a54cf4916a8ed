import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { blockOf } from '../support/guide-files.ts';

const root = join(import.meta.dirname, '../..');

test('the program of the guide to memory runs, and prints what stands below it', () => {
  // Inside the repository, so that `assize` is this package.
  const folder = mkdtempSync(join(root, 'dist-guide-'));
  try {
    writeFileSync(join(folder, 'example.ts'), blockOf('memory.md', 'ts'));
    const printed = execFileSync(process.execPath, ['example.ts'], { cwd: folder, encoding: 'utf8' });
    expect(printed).toBe(blockOf('memory.md', 'text'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
