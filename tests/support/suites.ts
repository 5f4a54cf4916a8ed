/**
 * The suites of tests. The suffix of a file says where it belongs:
 *
 * - `x.test.ts`: fast, in every suite but `slow`.
 * - `x.postgres.test.ts`: fast, and its part with PostgreSQL runs in `slow` and `all`.
 * - `x.slow.test.ts`: starts servers, kills processes, or takes several seconds.
 * - `x.long.test.ts`: as slow, and takes ten seconds or more. What must pass before a change lands
 *   does not wait for it.
 * - `x.nightly.test.ts`: takes minutes, so only `all` has it.
 * - `x.alone.….test.ts`: any of these, in a process of its own. The file leaves changes in its
 *   process for the next file, or replaces a module. All other files share processes: starting a
 *   process for each file takes as long as most of their tests.
 */
export interface Suite {
  readonly include: string[];
  readonly exclude: string[];
}

export type SuiteName = 'fast' | 'slow' | 'long' | 'all';

const WORKSPACES = 'console,bench,examples,labs';
const FOLDERS = `{packages,tests,${WORKSPACES}}`;
const NEVER = ['**/node_modules/**', '**/dist*/**'];

export const SUITES: Readonly<Record<SuiteName, Suite>> = {
  /** `npm test`: everything promised, with few cases of each property. */
  fast: {
    include: [`${FOLDERS}/**/*.test.ts`],
    exclude: [...NEVER, '**/*.slow.test.ts', '**/*.long.test.ts', '**/*.nightly.test.ts'],
  },
  /** `npm run test:slow`: PostgreSQL, crashes and whole programs, in a few minutes. */
  slow: {
    include: ['{packages,tests}/**/*.slow.test.ts', '{packages,tests}/**/*.postgres.test.ts'],
    exclude: NEVER,
  },
  /** `npm run test:long`: the longer programs, and the slow files of the workspaces. */
  long: {
    include: [`${FOLDERS}/**/*.long.test.ts`, `{${WORKSPACES}}/**/*.slow.test.ts`],
    exclude: NEVER,
  },
  /** `npm run test:all`: every file, with all cases. */
  all: { include: [`${FOLDERS}/**/*.test.ts`], exclude: NEVER },
};

export function isSuite(name: string): name is SuiteName {
  return Object.hasOwn(SUITES, name);
}

/** The suite that runs. */
export function suite(): SuiteName {
  const name = process.env['ASSIZE_SUITE'] ?? 'all';
  if (!isSuite(name)) throw new Error(`ASSIZE_SUITE must be fast, slow, long or all, not ${name}.`);
  return name;
}
