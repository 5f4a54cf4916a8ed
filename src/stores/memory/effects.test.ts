import { effectStoreSuite } from '../../testing/effect-store-suite.ts';
import { MemoryStore } from './store.ts';

const reason = 'nothing survives the object';

effectStoreSuite({
  name: 'memory',
  open: async () => new MemoryStore(),
  skip: [
    'a store opened again has the effects, and those that close still took',
    'two handles on one place have the same effects',
    'handles that take over from each other give what a plain model of effects gives',
    'a tenure is one handle’s at a time, and ends with its handle',
    'a handle hears that it is fenced, though it knew of the effects',
    'of many that ask for a tenure through two handles, no two have it at once, and all have it',
  ].map((test) => ({ test, reason })),
});
