import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { judgeSkips, MAY_SKIP, type MaySkip } from '../support/skips.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'assize-skips-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Code that skips tests, also tests of other files. */
const SKIPS =
  /\b(?:skipIf|runIf)\(|\b(?:test|it|describe|context|ctx)\.skip\b|\bwithChromium\(|^\s+skip: \[$/m;
/**
 * Files with skips that no test of this project runs: skips in copies of it, and in suites that run
 * on request.
 */
const ELSEWHERE = [
  'tests/properties/mutants.alone.slow.test.ts',
  'tests/architecture/skips.test.ts',
];

test('every file with skippable tests has a reason, and every reason its files', () => {
  const files = globSync(
    [
      'packages/**/*.test.ts',
      'examples/**/*.test.ts',
      'labs/ontology/**/*.test.ts',
      'labs/experiments/**/*.test.ts',
      'bench/**/*.test.ts',
      'tests/**/*.test.ts',
    ],
    {
      cwd: root,
    },
  );
  const skipping = files
    .map((file) => file.replaceAll('\\', '/'))
    .filter(
      (file) => !ELSEWHERE.includes(file) && SKIPS.test(readFileSync(join(root, file), 'utf8')),
    );
  expect(skipping.length).toBeGreaterThan(30);
  const known = new Set(MAY_SKIP.flatMap(({ files = [] }) => files));
  expect(skipping.filter((file) => !known.has(file))).toEqual([]);
  expect([...known].filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

const here = (name: string, file = 'a.test.ts') => ({ file, name });

test('a skip is expected only if a reason holds for its file and its name', () => {
  const may = (given: Partial<MaySkip>): MaySkip[] => [
    { why: 'it rains', holds: () => true, ...given },
  ];
  const isExpected = (given: Partial<MaySkip>, name = 'a walk outside'): boolean =>
    judgeSkips([here(name)], may(given)).unexpected.length === 0;
  expect(isExpected({ files: ['a.test.ts'] })).toBe(true);
  expect(isExpected({ files: ['b.test.ts'] })).toBe(false);
  expect(isExpected({ files: ['a.test.ts'], named: /outside/ })).toBe(true);
  expect(isExpected({ files: ['a.test.ts'], named: /inside/ })).toBe(false);
  expect(isExpected({ named: /outside/ })).toBe(true);
  // Of no file and no name, it would be a reason for everything.
  expect(isExpected({})).toBe(false);
  expect(isExpected({ files: ['a.test.ts'], holds: () => false })).toBe(false);
  const { expected } = judgeSkips([here('x'), here('y')], may({ files: ['a.test.ts'] }));
  expect([...expected]).toEqual([['it rains', [here('x'), here('y')]]]);
});

test('the command lists all skips and fails on one without a known reason', () => {
  const known =
    'ledger store: memory a store opened again has all that was committed (nothing survives the object)';
  const run = (...names: readonly string[]) => {
    const result = (fullName: string) => ({ status: 'skipped', fullName });
    const testResults = [
      {
        name: join(root, 'packages/testing/src/memory/store.test.ts'),
        assertionResults: names.map(result),
      },
      {
        name: join(root, 'packages/assize/src/kernel/state/draft.test.ts'),
        assertionResults: [{ status: 'passed', fullName: 'ran' }],
      },
    ];
    const path = join(folder, 'report.json');
    writeFileSync(path, JSON.stringify({ numPassedTests: 1, numFailedTests: 0, testResults }));
    const command = [join(root, 'tests/support/check-skips.ts'), path];
    const { status, stdout } = spawnSync(process.execPath, command, { encoding: 'utf8' });
    return { status, lines: stdout.trimEnd().split('\n') };
  };
  expect(run()).toEqual({ status: 0, lines: ['1 passed, 0 failed'] });
  expect(run(known)).toEqual({
    status: 0,
    lines: [
      '1 skipped, as a store in memory ends with its object: packages/testing/src/memory/store.test.ts (1)',
      '1 passed, 0 failed, 1 skipped',
    ],
  });
  const { status, lines } = run(known, 'a law that nobody wanted');
  expect(status).toBe(1);
  expect(lines.slice(1)).toEqual([
    '1 SKIPPED WITHOUT A REASON that tests/support/skips.ts has:',
    '  packages/testing/src/memory/store.test.ts > a law that nobody wanted',
    '1 passed, 0 failed, 2 skipped',
  ]);
});
