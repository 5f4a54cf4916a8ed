import { sideStoreSuite } from '@assize/testing/internal/side-store-suite.ts';
import { MemoryStore } from './store.ts';

const reason = 'nothing survives the object';

sideStoreSuite({
  name: 'memory',
  open: async () => new MemoryStore(),
  skip: [
    { test: 'a store opened again has the side rows, and those that close still wrote', reason },
    { test: 'of two handles that count with compare-and-set, no count is lost', reason },
    { test: 'two handles that move rows in opposite orders end, and lose no row', reason },
  ],
});
