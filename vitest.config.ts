import { availableParallelism } from 'node:os';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { LongestFirst } from './tests/support/longest-first.ts';
import { TOGETHER } from './tests/support/together.ts';

const TESTS = ['src/**/*.test.ts', 'domains/**/*.test.ts', 'bench/**/*.test.ts', 'tests/**/*.test.ts'];

const config: ViteUserConfig = defineConfig({
  test: {
    globalSetup: 'tests/support/compile-cache.ts',
    pool: 'forks',
    // One more than there are processors: many files wait for a disk, a server or another process for half of their time.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    // For what hangs, and for nothing that is only slow: on a machine that others use as well, some tests take two minutes.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    projects: [
      { extends: true, test: { name: 'alone', include: TESTS, exclude: [...TOGETHER] } },
      { extends: true, test: { name: 'together', include: [...TOGETHER], isolate: false } },
    ],
  },
});

export default config;
