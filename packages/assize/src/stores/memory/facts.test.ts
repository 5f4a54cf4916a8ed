import { factStoreSuite } from '@assize/testing/internal/fact-store-suite.ts';
import { MemoryStore } from './store.ts';

const reason = 'nothing survives the object';

factStoreSuite({
  name: 'memory',
  open: async () => new MemoryStore(),
  skip: [
    'the key of claims is the same when the store is opened again',
    'a store opened again has the facts, and those that close still took',
    'two handles on one place have the same facts, and outdate each other',
    'a store opened again knows that its facts are incomplete',
    'handles on one place find the same texts, written or indexed by either',
    'handles that alternate give the result of a plain model of facts',
  ].map((test) => ({ test, reason })),
});
