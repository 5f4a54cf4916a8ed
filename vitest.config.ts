import { availableParallelism } from 'node:os';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { LongestFirst } from './tests/support/longest-first.ts';
import { isSuite, SUITES } from './tests/support/suites.ts';

/**
 * `npm test` runs the fast suite; `--mode slow`, `--mode long` and `--mode all` run the others. The
 * suffix of a file says which suite it belongs to (tests/support/suites.ts).
 */
export default defineConfig(({ mode }): ViteUserConfig => {
  const suite = isSuite(mode) ? mode : 'fast';
  const { include, exclude } = SUITES[suite];
  return {
    test: {
      globalSetup: [
        'tests/support/compile-cache.ts',
        'tests/support/seed.ts',
        'tests/support/built.ts',
        'tests/support/bundled.ts',
        'tests/support/process/first-runs.ts',
        'tests/support/postgres/cluster.ts',
      ],
      env: { ASSIZE_SUITE: suite },
      pool: 'forks',
      // One worker more than processors: many files wait half of their time for a disk, a server or
      // another process.
      maxWorkers: availableParallelism() + 1,
      sequence: { sequencer: LongestFirst },
      setupFiles: ['tests/support/seeded.ts'],
      // For tests that hang, and not for slow tests: on a machine with other users, some tests take
      // two minutes.
      testTimeout: 600_000,
      hookTimeout: 600_000,
      expect: { poll: { timeout: 300_000 } },
      projects: [
        {
          extends: true,
          test: {
            name: 'alone',
            include: include.map((glob) => glob.replace('*.', '*.alone.*')),
            exclude,
          },
        },
        {
          extends: true,
          test: {
            name: 'together',
            include,
            exclude: [...exclude, '**/*.alone.*'],
            isolate: false,
            setupFiles: ['tests/support/temporary-files.ts'],
            // Node itself loads the modules, as in programs. Imported names then cost nothing at
            // their use.
            experimental: { viteModuleRunner: false },
          },
        },
      ],
    },
  };
});
