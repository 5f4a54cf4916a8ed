/**
 * A process that acquires the write lock of the trajectory `t` of the given store, says so, and
 * holds it: `node turn-holder.ts STORE`.
 */
import { openStore } from '#stores';

const store = await openStore(process.argv[2]!);
const end = await store.acquireWriteLock!('t');
console.log(end === undefined ? 'none' : 'has it');
process.stdin.on('data', () => end?.());
