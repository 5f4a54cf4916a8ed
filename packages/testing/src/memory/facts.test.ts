import { factStoreSuite } from '../fact-store-suite.ts';
import { IN_MEMORY } from './in-memory.ts';

const reason = 'nothing survives the object';

for (const [name, open] of Object.entries(IN_MEMORY))
  factStoreSuite({
    name,
    open,
    skip: [
      'the key of claims is the same when the store is opened again',
      'a store opened again has the facts, and those that close still took',
      'two handles on one place have the same facts, and outdate each other',
      'a store opened again knows that its facts are incomplete',
      'handles on one place find the same texts, written or indexed by either',
      'handles that alternate give the result of a plain model of facts',
    ].map((test) => ({ test, reason })),
  });
