import { MemoryStore } from '#stores';

/** Outlives its handles, as a database does. */
export class LastingMemory extends MemoryStore {
  override async close(): Promise<void> {}
}
