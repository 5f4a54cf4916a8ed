/**
 * The suites of tests. The suffix of a file says where it belongs:
 *
 * - `x.test.ts`: fast, in every suite but `slow`.
 * - `x.postgres.test.ts`: fast, and its part with PostgreSQL runs in `slow` and `all`.
 * - `x.slow.test.ts`: starts servers, kills processes, or takes several seconds.
 * - `x.nightly.test.ts`: takes a minute, so only `all` has it.
 * - `x.alone.….test.ts`: any of these, in a process of its own. The file leaves changes in its
 *   process for the next file, or replaces a module. All other files share processes: starting a
 *   process for each file takes as long as most of their tests.
 */
export interface Suite {
  readonly include: string[];
  readonly exclude: string[];
}

export type SuiteName = 'fast' | 'slow' | 'all';

const FOLDERS = '{src,tests,console,bench,domains,ontology,experiments}';
const NEVER = ['**/node_modules/**', '**/dist*/**'];

export const SUITES: Readonly<Record<SuiteName, Suite>> = {
  /** `npm test`: everything promised, with few cases of each property. */
  fast: { include: [`${FOLDERS}/**/*.test.ts`], exclude: [...NEVER, '**/*.slow.test.ts', '**/*.nightly.test.ts'] },
  /** `npm run test:slow`: PostgreSQL, crashes and whole programs of the package. */
  slow: {
    include: ['{src,tests}/**/*.slow.test.ts', '{src,tests}/**/*.postgres.test.ts'],
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
  if (!isSuite(name)) throw new Error(`ASSIZE_SUITE must be fast, slow or all, not ${name}.`);
  return name;
}
