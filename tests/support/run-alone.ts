import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

const TESTS = [
  'src/**/*.test.ts',
  'ontology/**/*.test.ts',
  'experiments/**/*.test.ts',
  'domains/**/*.test.ts',
  'bench/**/*.test.ts',
  'tests/**/*.test.ts',
];

/**
 * Patterns of a test file that leaves changes in its process for the next file, or replaces a
 * module.
 */
export const LEAVES: readonly RegExp[] = [
  /\bvi\.(mock|doMock|resetModules|stubGlobal|stubEnv)\(/,
  /\bfc\.configureGlobal\(/,
  /\bsyncBuiltinESMExports\(/,
  // A test that measures memory also measures the memory of other tests.
  /\bsetFlagsFromString\(/,
  /\bprocess\.(chdir|umask|removeAllListeners|on|once)\(/,
  /\bprocess\.env(?:\.\w+|\[[^\]]+\]) (?:\?\?)?=[^=]/,
];

const all: readonly string[] = globSync(TESTS, { cwd: root }).sort();

/** Files of tests that each need a process of their own. */
export const ALONE: readonly string[] = all.filter((file) => {
  const text = readFileSync(join(root, file), 'utf8');
  return LEAVES.some((each) => each.test(text));
});

/**
 * All other files, many in one process. Starting a process for each file, and loading and compiling
 * the same modules there, takes as long as most of their tests. They leave nothing for the next
 * file: no clock, no module, and no pending work.
 */
export const TOGETHER: readonly string[] = all.filter((file) => !ALONE.includes(file));
