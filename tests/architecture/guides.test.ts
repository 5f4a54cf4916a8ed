/** A reader sees the code of a guide whole: no line of it is wider than the page. */
import { globSync } from 'node:fs';
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
