import { effectStoreSuite } from '../../testing/effect-store-suite.ts';
import { sharedEffectStoreSuite } from '../../testing/shared-effect-store-suite.ts';
import type { SharedEffectLedger } from '../../testing/suite-types.ts';
import { MemoryStore } from './store.ts';

const reason = 'nothing survives the object';

const skip = [
  'a store opened again has the effects, and those that close still took',
  'two handles on one place have the same effects',
  'handles that take over from each other give what a plain model of effects gives',
  'a tenure is one handle’s at a time, and ends with its handle',
  'a handle hears that it is fenced, though it knew of the effects',
  'of many that ask for a tenure through two handles, no two have it at once, and all have it',
].map((test) => ({ test, reason }));
effectStoreSuite({ name: 'memory', open: async () => new MemoryStore(), skip });
effectStoreSuite({ name: 'memory, shared', open: async () => new MemoryStore({ shared: true }), skip });

sharedEffectStoreSuite({
  name: 'memory',
  open: async () => new MemoryStore({ shared: true }) as MemoryStore & SharedEffectLedger,
  skip: [
    'members on two handles hear each other, and what one had whose handle is closed is taken over by exactly one',
    'a tenure on one handle waits for members on another, and they for it',
    'the same where each has a handle of its own, which it may lose',
  ].map((test) => ({ test, reason })),
});
