/**
 * The table of docs/design/threats.md names every attack and fault that is tested by name, and no
 * other.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/design/threats.md'), 'utf8');
const rows = [...page.matchAll(/^\| ((?:attack \d+|fault): .*?) \| (.*?) \| (.*?) \|$/gm)].map(
  ([, title = '', , more = '']) => ({ title, more }),
);

const titles = ['tests/attacks', 'tests/faults'].flatMap((folder) =>
  readdirSync(join(root, folder)).flatMap((file) => {
    const source = readFileSync(join(root, folder, file), 'utf8');
    return [...source.matchAll(/'((?:attack \d+|fault): [^']+)'/g)].map(([, title]) => title);
  }),
);

test('every title is a test’s, and every test’s is there', () => {
  expect(rows.map(({ title }) => title).toSorted()).toEqual(titles.toSorted());
});

test('the attacks are numbered from 1 to 27, and from 29 to 81', () => {
  const numbers = rows.flatMap(({ title }) => /^attack (\d+)/.exec(title)?.[1] ?? []);
  const from = (first: number, last: number) =>
    Array.from({ length: last - first + 1 }, (_, n) => `${first + n}`);
  expect(numbers).toEqual([...from(1, 27), ...from(29, 81)]);
});

test('the files named next to each title exist', () => {
  for (const { title, more } of rows) {
    const files = [...more.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file);
    expect({ title, missing: files.filter((file) => !existsSync(join(root, file))) }).toEqual({
      title,
      missing: [],
    });
    expect(files.length).toBeGreaterThan(0);
  }
});
