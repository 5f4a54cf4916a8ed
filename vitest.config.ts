import { availableParallelism } from 'node:os';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { LongestFirst } from './tests/support/longest-first.ts';
import { ALONE, TOGETHER } from './tests/support/run-alone.ts';

const config: ViteUserConfig = defineConfig({
  test: {
    globalSetup: [
      'tests/support/compile-cache.ts',
      'tests/support/seed.ts',
      'tests/support/built.ts',
      'tests/support/bundled.ts',
      'tests/support/postgres/cluster.ts',
    ],
    pool: 'forks',
    // One more than there are processors: many files wait for a disk, a server or another process for half of their time.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    setupFiles: ['tests/support/seeded.ts'],
    // For what hangs, and for nothing that is only slow: on a machine that others use as well, some tests take two minutes.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 300_000 } },
    projects: [
      { extends: true, test: { name: 'alone', include: [...ALONE] } },
      {
        extends: true,
        test: {
          name: 'together',
          include: [...TOGETHER],
          isolate: false,
          setupFiles: ['tests/support/temporary-files.ts'],
          // Loaded by Node itself, as programs load them: names that are imported cost nothing then where they are used.
          experimental: { viteModuleRunner: false },
        },
      },
    ],
  },
});

export default config;
