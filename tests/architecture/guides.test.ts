/** Pages of the docs: code fits the page, and clauses of the ledger's paper have tests. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { blocksOf } from '../support/process/guide-files.ts';

const root = join(import.meta.dirname, '../..');
const COLUMNS_MAX = 100;

/** Whether a word of the line is nearly as long as a line: an address has no place to break. */
const hasAddress = (line: string): boolean => line.split(' ').some(({ length }) => length > 80);

test.each(globSync('docs/guide/*.md', { cwd: root }))('%s has code of 100 columns', (page) => {
  const lines = blocksOf(page).flatMap(({ code }) => code.split('\n'));
  const wide = lines.filter((line) => line.length > COLUMNS_MAX && !hasAddress(line));
  expect(wide).toEqual([]);
});

test('each clause of the execution ledger names a test that there is', () => {
  const page = readFileSync(join(root, 'docs/reference/execution-ledger.md'), 'utf8');
  const rows = [...page.matchAll(/^\| .* \| \[([^\]]+)\]\((?:\.\.\/)+([^)]+)\) \|$/gm)];
  const missing = rows.filter(
    ([, title = '', file = '']) => !readFileSync(join(root, file), 'utf8').includes(`'${title}'`),
  );
  expect(missing.map(([, title]) => title)).toEqual([]);
  expect(rows.length).toBeGreaterThan(20);
});
