import { TemporaryStore } from 'assize/internal/stores';
import { MemoryStore } from './store.ts';

/** The stores that lose everything with their object: the one of tests, and that of `memory:`. */
export const IN_MEMORY: Readonly<Record<string, () => Promise<MemoryStore | TemporaryStore>>> = {
  memory: async () => new MemoryStore(),
  'SQLite in memory': async () => new TemporaryStore(),
};
