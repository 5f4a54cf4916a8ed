import { factStoreSuite } from '../../testing/fact-store-suite.ts';
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
    'two handles on one place find the same, whoever said it and whoever indexed it',
    'handles that take turns give what a plain model of facts gives',
  ].map((test) => ({ test, reason })),
});
