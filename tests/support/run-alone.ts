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

/** By which a file of tests says that it leaves something in its process for the next one, or puts something else in the place of a module. */
export const LEAVES: readonly RegExp[] = [
  /\bvi\.(mock|doMock|resetModules|stubGlobal|stubEnv)\(/,
  /\bfc\.configureGlobal\(/,
  /\bsyncBuiltinESMExports\(/,
  // Who measures what is kept in memory measures what others leave there as well.
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
 * All others, many in one process: to start one for each, and to load and compile the same modules there, takes as long again as most of
 * their tests. Nothing of theirs is left for the next one: no clock, no module, and nothing that waits.
 */
export const TOGETHER: readonly string[] = all.filter((file) => !ALONE.includes(file));
