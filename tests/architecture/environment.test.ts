import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/reference/environment.md'), 'utf8');
const SOURCES = [
  '{packages,bench,examples,scripts,tests,labs}/**/*.{ts,js}',
  '.ci/*',
  '.github/**/*.yml',
  '*.ts',
];

test('the table has every ASSIZE_ variable that a source names, and no other', () => {
  const texts = globSync(SOURCES, { cwd: root })
    .filter((file) => !file.includes('node_modules') && !file.endsWith('environment.test.ts'))
    .map((file) => readFileSync(join(root, file), 'utf8'));
  const all = (pattern: RegExp): string[] =>
    texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name!));
  // Constants of the sources may have such a name as well.
  const constants = new Set(all(/\bconst (ASSIZE_[A-Z_]+)\b/g));
  const named = new Set(all(/\b(ASSIZE_[A-Z_]+)\b/g).filter((name) => !constants.has(name)));
  expect(named.size).toBeGreaterThan(8);
  const rows = [...page.matchAll(/^\| `(ASSIZE_[A-Z_]+)` \|/gm)].map(([, name]) => name!);
  expect(rows.filter((name, i) => rows.indexOf(name) !== i)).toEqual([]);
  expect([...rows].sort()).toEqual([...named].sort());
});

test('the defaults in the table are those of the sources', () => {
  const defaults = new Map(
    [...page.matchAll(/^\| `(ASSIZE_[A-Z_]+)` \|[^|]*\| ([^|]*) \|/gm)].map(([, name, is]) => [
      name!,
      is!,
    ]),
  );
  const given = globSync('tests/**/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('environment.test.ts'))
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .flatMap((text) => [
      ...text.matchAll(/process\.env\['(ASSIZE_[A-Z_]+)'\] \?\? (?:cases\(|')?([\d_]+)/g),
    ])
    .map(([, name, value]) => [name!, Number(value!.replaceAll('_', ''))] as const)
    // Of these, each test has its own.
    .filter(([name]) => !['ASSIZE_CRASH_EFFECTS', 'ASSIZE_SEED'].includes(name));
  expect(new Set(given.map(([name]) => name)).size).toBeGreaterThan(2);
  for (const [name, value] of given)
    expect([name, Number.parseInt(defaults.get(name)!, 10)]).toEqual([name, value]);
});
