import { afterAll, vi } from 'vitest';

// For each test file that shares its process: restores clocks and functions for the next file.
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});
