import { afterAll, vi } from 'vitest';

// Of each file of tests that shares its process: what it has put in the place of clocks and functions is not there for the next one.
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});
