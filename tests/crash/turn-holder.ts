/** A process that takes its turn at the trajectory `t` of the store that is named, says so, and keeps it: `node turn-holder.ts STORE`. */
import { openStore } from '#stores';

const store = await openStore(process.argv[2]!);
const end = await store.acquireWriteLock!('t');
console.log(end === undefined ? 'none' : 'has it');
process.stdin.on('data', () => end?.());
