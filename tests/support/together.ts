import { globSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Those that put something else in the place of a module. */
const ALONE: readonly string[] = ['src/authority/check.test.ts', 'src/oracle/random.test.ts'];

/**
 * Test files of the floors that only compute, many in one process: to start one for each, and to load and compile the same modules there,
 * takes as long again as their tests. Nothing of theirs is left for the next one: no clock, no file, no module, and nothing that waits.
 */
export const TOGETHER: readonly string[] = globSync(
  'src/{canon,merkle,ledger,authority,kernel,oracle,memory}/**/*.test.ts',
  { cwd: root },
)
  .filter((file) => !ALONE.includes(file))
  .sort();
