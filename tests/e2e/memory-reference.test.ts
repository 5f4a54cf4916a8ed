/**
 * The names in docs/reference/memory.md exist: files, names, titles of tests. Every number of the
 * paper is there once.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  codesIn,
  exportsName,
  matches,
  namedTests,
  pathOf,
  readFile,
  rowsOf,
  titlesOf,
} from './reference-page.ts';

const root = join(import.meta.dirname, '../..');
const page = readFile('docs/reference/memory.md');

const rows = (head: string) =>
  rowsOf(page, head).map(([what = '', here = '', tests = '']) => ({ what, here, tests }));
const notions = rows('notion');
const paper = rows('paper');
const differences = rowsOf(page, 'differs').map(([what = '', why = '', tests = '']) => ({
  what,
  here: why,
  tests,
}));

const from1 = (to: number): number[] => Array.from({ length: to }, (_, n) => n + 1);

/**
 * The numbered items of the paper. Definitions, theorems and similar items share one count per
 * section; remarks have their own.
 */
const NUMBERED: readonly (readonly [
  kind: string,
  numbers: readonly number[],
  appendix?: string,
])[] = [
  ['Definition', [1, 2, 9, 10, 15, 16]],
  ['Theorem', [3, 7, 11, 12, 17]],
  ['Lemma', [4]],
  ['Corollary', [5, 6, 13, 18]],
  ['Proposition', [8, 14]],
  ['Remark', from1(4)],
  ['Lemma', [1, 5, 7], 'B'],
  ['Proposition', [2, 6], 'B'],
  ['Definition', [3, 4], 'B'],
  ['Proposition', [1, 3], 'C'],
  ['Definition', [2], 'C'],
  ['Definition', [1], 'D'],
  ['Proposition', [2], 'D'],
  ['Algorithm', [1]],
  ['Table', from1(27)],
  ['Figure', from1(9)],
];

test('every number of the paper has one row', () => {
  const all = NUMBERED.flatMap(([kind, numbers, appendix]) =>
    numbers.map((n) => `${kind} ${n}${appendix === undefined ? '' : ` (${appendix})`}`),
  );
  const here = paper.map(({ what }) => /^\w+ \d+(?: \([B-D]\))?/.exec(what)?.[0]);
  expect(here.toSorted()).toEqual(all.toSorted());
  // The counts that are shared have no gap.
  for (const [appendix, last] of [
    [undefined, 18],
    ['B', 7],
    ['C', 3],
    ['D', 2],
  ] as const) {
    const shared = NUMBERED.filter(
      ([kind, , of]) =>
        of === appendix && !['Remark', 'Algorithm', 'Table', 'Figure'].includes(kind),
    );
    expect(shared.flatMap(([, numbers]) => numbers).toSorted((a, b) => a - b)).toEqual(from1(last));
  }
});

test('every file exists and has the name, as an export or a member of one', () => {
  let names = 0;
  for (const { what, here } of [...notions, ...paper]) {
    let source: string | undefined;
    for (const token of codesIn(here)) {
      if (token.endsWith('.ts')) {
        expect([what, token, existsSync(join(root, pathOf(token)))]).toEqual([what, token, true]);
        source = readFile(pathOf(token));
      } else if (source !== undefined && !WORDS.has(token)) {
        names++;
        expect([what, token, exportsName(source, token)]).toEqual([what, token, true]);
      }
    }
  }
  expect(names).toBeGreaterThan(100);
});

/** Words in code style that are not names of the file before them. */
const WORDS = new Set([
  'lww',
  'evi',
  'facts',
  'assize-experiments memory',
  'peers/package.json',
  '-',
]);

test('every title is that of a test, in the file that is named', () => {
  let titles = 0;
  for (const { what, tests } of [...notions, ...paper, ...differences])
    for (const { file, title } of namedTests(tests)) {
      titles++;
      const found = titlesOf(readFile(pathOf(file))).some((one) => matches(one, title));
      expect({ what, file, title, found }).toEqual({ what, file, title, found: true });
    }
  expect(titles).toBeGreaterThan(150);
});

test('an item without a test has nothing to build, or is a benchmark figure', () => {
  const without = [...notions, ...paper, ...differences].filter(
    ({ tests }) => namedTests(tests).length === 0,
  );
  const built = without.filter(({ here }) => !here.startsWith('nothing to build: '));
  expect(built.map(({ what, here }) => [what, codesIn(here)[0]])).toEqual([
    ['Figure 3 Latency by size', 'bench/memory.ts'],
  ]);
  expect(without.map(({ what }) => /^\w+ \d+(?: \(C\))?/.exec(what)?.[0])).toEqual([
    ...['Definition 2 (C)', 'Proposition 3 (C)', 'Table 6'],
    ...['Table 18', 'Table 19', 'Table 26', 'Table 27'],
    ...['Figure 2', 'Figure 3', 'Figure 7'],
  ]);
});

test('every property that is named after a number of the paper is there', () => {
  const titles = titlesOf(readFile('labs/experiments/tests/memory-theorems.test.ts'));
  const named = [...notions, ...paper, ...differences]
    .flatMap(({ tests }) => namedTests(tests))
    .filter(({ file }) => file === 'labs/experiments/tests/memory-theorems.test.ts');
  expect(titles.length).toBeGreaterThan(8);
  expect(titles.filter((title) => !named.some((one) => matches(title, one.title)))).toEqual([]);
});

test('differences are numbered without a gap, and all references exist', () => {
  expect(differences.map(({ what }) => what)).toEqual(
    from1(differences.length).map((n) => `D${n}`),
  );
  const referred = [...notions, ...paper].flatMap(({ here }) => here.match(/\bD\d+\b/g) ?? []);
  expect(referred.length).toBeGreaterThan(50);
  // A difference outside the paper has no number of the paper that refers to it.
  const led = new Set([...referred, 'D25', 'D26', 'D29', 'D30', 'D31']);
  expect(differences.map(({ what }) => what).filter((what) => !led.has(what))).toEqual([]);
  expect([...led].filter((what) => !differences.some((one) => one.what === what))).toEqual([]);
});

test('the links lead somewhere', () => {
  const anchorsOf = (text: string): string[] =>
    [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );
  const links = [...page.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link);
  expect(links.length).toBeGreaterThan(4);
  for (const link of links) {
    const [file = '', anchor] = link.split('#');
    const path = join('docs/reference', file === '' ? 'memory.md' : file);
    expect([link, existsSync(join(root, path))]).toEqual([link, true]);
    if (anchor !== undefined)
      expect([link, anchorsOf(readFile(path)).includes(anchor)]).toEqual([link, true]);
  }
});
