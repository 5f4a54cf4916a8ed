import { oracleStoreSuite } from '../oracle-store-suite.ts';
import { IN_MEMORY } from './in-memory.ts';

const reason = 'nothing survives the object';

for (const [name, open] of Object.entries(IN_MEMORY))
  oracleStoreSuite({
    name,
    open,
    skip: [
      { test: 'a store opened again has the answers that close still recorded', reason },
      { test: 'a store opened again has the first answers', reason },
      { test: 'a store opened again knows which answers were erased', reason },
      { test: 'an erased answer is no longer listed, also in a store opened again', reason },
      { test: 'two handles that answer one question concurrently get the same answer', reason },
    ],
  });
