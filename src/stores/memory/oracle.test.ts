import { oracleStoreSuite } from '../../testing/oracle-store-suite.ts';
import { MemoryStore } from './store.ts';

const reason = 'nothing survives the object';

oracleStoreSuite({
  name: 'memory',
  open: async () => new MemoryStore(),
  skip: [
    { test: 'what close still recorded is there when the store is opened again', reason },
    { test: 'a store opened again has the first answers', reason },
    { test: 'a store opened again knows which answers were erased', reason },
    { test: 'an answer that was erased is listed no more, also in a store opened again', reason },
    { test: 'of two handles that answer one question at once, both get the same answer', reason },
  ],
});
