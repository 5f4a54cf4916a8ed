import { defineConfig, type ViteUserConfig } from 'vitest/config';

const config: ViteUserConfig = defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'domains/**/*.test.ts', 'bench/**/*.test.ts', 'tests/**/*.test.ts'],
    globalSetup: 'tests/support/compile-cache.ts',
    pool: 'forks',
    // One less than there are processors is what it takes by itself, and with two that is one at a time.
    maxWorkers: '100%',
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});

export default config;
