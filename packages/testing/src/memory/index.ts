// The store in memory with which tests run: plain maps and lists. They open faster than a database.
// It is the only store in memory whose effect log several runtimes can share (`shared`).
//
// Guarantees: it passes every suite of this package. Never: part of a production program.
export { MemoryStore } from './store.ts';
