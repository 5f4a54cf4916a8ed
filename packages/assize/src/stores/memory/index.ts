// A ledger and an oracle log in memory, for tests. The store answers like the other stores, and
// loses everything at the end of the process.
export { MemoryStore } from './store.ts';
