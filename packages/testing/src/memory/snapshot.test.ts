import { snapshotStoreSuite } from '../snapshot-store-suite.ts';
import { IN_MEMORY } from './in-memory.ts';

const reason = 'nothing survives the object';

for (const [name, open] of Object.entries(IN_MEMORY))
  snapshotStoreSuite({
    name,
    open,
    skip: [
      { test: 'a store opened again has the snapshots, and those that close still took', reason },
      { test: 'two handles on one place have the same snapshots', reason },
    ],
  });
