import { oracleStoreSuite } from '@assize/testing/internal/oracle-store-suite.ts';
import { MemoryStore } from './store.ts';

const reason = 'nothing survives the object';

oracleStoreSuite({
  name: 'memory',
  open: async () => new MemoryStore(),
  skip: [
    { test: 'a store opened again has the answers that close still recorded', reason },
    { test: 'a store opened again has the first answers', reason },
    { test: 'a store opened again knows which answers were erased', reason },
    { test: 'an erased answer is no longer listed, also in a store opened again', reason },
    { test: 'two handles that answer one question concurrently get the same answer', reason },
  ],
});
