import { MemoryStore } from '@assize/testing/memory';

/** Outlives its handles, as a database does. */
export class LastingMemory extends MemoryStore {
  override async close(): Promise<void> {}
}
