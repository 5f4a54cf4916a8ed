import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const guide = readFileSync(join(root, 'docs/guide/domains.md'), 'utf8');

function block(says: string): string {
  const found = [...guide.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].filter(([, is]) => is === says);
  return found.map(([, , code]) => code).join('\n');
}

// Inside the repository, so that `assize` is this package.
const folder = mkdtempSync(join(root, 'dist-guide-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
for (const name of ['library.ts', 'library.test.ts', 'check.ts'])
  writeFileSync(join(folder, name), block(`ts ${name}`));

const run = (...given: string[]): string =>
  execFileSync(process.execPath, given, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

test('the test of the guide passes', () => {
  const report = join(folder, 'report.json');
  run(join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', '.', '--reporter', 'json', '--outputFile', report);
  expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({ numPassedTests: 1, numTotalTests: 1 });
});

test('the check of the guide finds what was forgotten, in the words of the page, and nothing else', () => {
  expect(run('check.ts')).toBe(block('text check.ts'));
});
