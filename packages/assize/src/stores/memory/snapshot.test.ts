import { snapshotStoreSuite } from '@assize/testing/internal/snapshot-store-suite.ts';
import { MemoryStore } from './store.ts';

const reason = 'nothing survives the object';

snapshotStoreSuite({
  name: 'memory',
  open: async () => new MemoryStore(),
  skip: [
    { test: 'a store opened again has the snapshots, and those that close still took', reason },
    { test: 'two handles on one place have the same snapshots', reason },
  ],
});
