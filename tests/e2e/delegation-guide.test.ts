import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

test('the program of the guide to delegation runs, and prints what it should', () => {
  const guide = readFileSync(join(root, 'docs/guide/delegation.md'), 'utf8');
  const program = guide.split('```ts\n')[1]?.split('\n```')[0] ?? '';
  // Inside the repository, so that `assize` is this package.
  const folder = mkdtempSync(join(root, 'dist-guide-'));
  try {
    writeFileSync(join(folder, 'example.ts'), program);
    const printed = execFileSync(process.execPath, ['example.ts'], { cwd: folder, encoding: 'utf8' });
    expect(printed.trim().split('\n')).toEqual([
      'committed',
      'committed',
      'committed',
      '3 of 4 spent',
      "committed [ 'there are 3 sources' ]",
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
