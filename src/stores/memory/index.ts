// A ledger and an oracle log in memory, for tests: the same answers as the other stores, and nothing survives.
export { MemoryStore } from './store.ts';
