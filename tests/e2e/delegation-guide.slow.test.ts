import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { blockOf, writeFiles } from '../support/process/guide-files.ts';

test('delegation.md: the program prints its output', () => {
  // Inside the repository, so that `assize` is this package.
  const folder = mkdtempSync(join(import.meta.dirname, '../../dist-guide-'));
  try {
    writeFiles('delegation.md', folder);
    const printed = execFileSync(process.execPath, ['delegate.ts'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(printed).toBe(blockOf('delegation.md', 'text delegate.ts'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
