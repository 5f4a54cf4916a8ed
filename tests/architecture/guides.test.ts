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

test('a page that installs the command installs the package of its name too', () => {
  const pages = globSync('{README.md,docs/**/*.md,packages/*/README.md}', { cwd: root });
  const lines = pages.flatMap((page) => readFileSync(join(root, page), 'utf8').split('\n'));
  const installs = lines.filter((line) => /npm install .*@assize\/cli\b/.test(line));
  expect(installs.filter((line) => !/\bassize @assize\/cli\b/.test(line))).toEqual([]);
  expect(installs.length).toBeGreaterThan(5);
});
