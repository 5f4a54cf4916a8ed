import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CODES_MAX, errorPage, readErrors } from '../../scripts/error-index.ts';

const root = join(import.meta.dirname, '../..');
const index = readErrors(root);

test('docs/errors.md matches the sources (npm run errors)', () => {
  expect(readFileSync(join(root, 'docs/errors.md'), 'utf8')).toBe(errorPage(index));
});

test('the sources declare exactly as many codes as the limit allows', () => {
  expect(index.codes.length).toBe(CODES_MAX);
});

test('every code has one row, with sentences of at most 25 words', () => {
  const names = index.codes.map(({ code }) => code);
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  const long = index.codes.flatMap(({ code, meaning, remedy }) =>
    [meaning, ...remedy.split(/(?<=\.) (?=[A-Z`])/)]
      .filter((sentence) => sentence.split(' ').length > 25)
      .map(() => code),
  );
  expect(long).toEqual([]);
});

test('every class of errors in the sources is listed', () => {
  const texts = globSync('packages/*/src/**/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(root, file), 'utf8'));
  const declared = texts.flatMap((text) =>
    [...text.matchAll(/class (\w+) extends AssizeError\b/g)].map(([, name]) => name),
  );
  expect(index.classes.map(({ name }) => name)).toEqual(declared.sort());
  expect(declared.length).toBeGreaterThan(15);
  // A code that belongs to no union would be on no page.
  expect(texts.flatMap((text) => text.match(/new AssizeError\(\s*'[a-z_]+'/g) ?? [])).toEqual([]);
});
