import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LONGEST } from '../support/longest-first.ts';
import { SUITES } from '../support/suites.ts';

const root = join(import.meta.dirname, '../..');
const filesOf = ({
  include,
  exclude,
}: {
  include: readonly string[];
  exclude: readonly string[];
}): string[] => globSync(include, { cwd: root, exclude }).sort();
const all = filesOf(SUITES.all);

/** Marks of a file that leaves changes in its process for the next file, or replaces a module. */
const LEAVES: readonly RegExp[] = [
  /\bvi\.(mock|doMock|resetModules|stubGlobal|stubEnv)\(/,
  /\bfc\.configureGlobal\(/,
  /\bsyncBuiltinESMExports\(/,
  // A test that measures memory also measures the memory of other tests.
  /\bsetFlagsFromString\(/,
  // A process warns of this once.
  /\bcode: 'no_recovery_key'/,
  /\bprocess\.(chdir|umask|removeAllListeners|on|once)\(/,
  /\bprocess\.env(?:\.\w+|\[[^\]]+\]) (?:\?\?)?=[^=]/,
];
const leaves = (text: string): boolean => LEAVES.some((each) => each.test(text));

test.each([
  ["vi.mock('node:fs')", true],
  ["  vi.stubEnv('TZ', 'UTC');", true],
  ["process.env['TZ'] = 'UTC';", true],
  ['process.env.TZ ??= "UTC";', true],
  ['process.once("exit", end);', true],
  ["if (process.env['TZ'] === 'UTC') return;", false],
  ['const { TZ } = process.env;', false],
  ['vi.spyOn(clock, "now");', false],
])('side effects of a test file on its process are detected in its text: %s', (text, expected) => {
  expect(leaves(text)).toBe(expected);
});

test('a file that leaves side effects is named .alone., and no other file', () => {
  const own = 'tests/architecture/suites.test.ts';
  const wrong = all.filter((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return file !== own && leaves(text) !== file.includes('.alone.');
  });
  expect(wrong).toEqual([]);
});

test('a fast file with PostgreSQL is named .postgres., and no other file', () => {
  const uses = /\bwithPostgres\(|\bPostgresServer\.start\(|support\/ledger\/stores\.ts/;
  const wrong = all.filter((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    if (/\.(slow|long|nightly)\.test\.ts$/.test(file)) return false;
    return uses.test(text) !== file.endsWith('.postgres.test.ts');
  });
  expect(wrong.filter((file) => file !== 'tests/architecture/suites.test.ts')).toEqual([]);
});

test('fast, slow and long have every file but nightly ones', () => {
  const three = new Set([SUITES.fast, SUITES.slow, SUITES.long].flatMap(filesOf));
  expect(all.filter((file) => !file.endsWith('.nightly.test.ts') && !three.has(file))).toEqual([]);
  expect(all.filter((file) => file.endsWith('.nightly.test.ts')).length).toBeLessThan(12);
  expect(filesOf(SUITES.slow).length).toBeGreaterThan(50);
});

test('each file that starts first is there', () => {
  expect(LONGEST.filter((file) => !all.includes(file))).toEqual([]);
});
