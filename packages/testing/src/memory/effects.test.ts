import { effectStoreSuite } from '../effect-store-suite.ts';
import { sharedEffectStoreSuite } from '../shared-effect-store-suite.ts';
import type { SharedEffectLedger } from '../suite-types.ts';
import { IN_MEMORY } from './in-memory.ts';
import { MemoryStore } from './store.ts';

const reason = 'nothing survives the object';

const skip = [
  'a store opened again has the effects, and those that close still took',
  'two handles on one place have the same effects',
  'handles that alternate leases give the result of a plain effect model',
  'a tenure is one handle’s at a time, and ends with its handle',
  'a handle hears that it is fenced, though it knew of the effects',
  'of many lease requests over two handles each is granted, one at a time',
].map((test) => ({ test, reason }));
for (const [name, open] of Object.entries(IN_MEMORY)) effectStoreSuite({ name, open, skip });
effectStoreSuite({
  name: 'memory, shared',
  open: async () => new MemoryStore({ shared: true }),
  skip,
});

sharedEffectStoreSuite({
  name: 'memory',
  open: async () => new MemoryStore({ shared: true }) as MemoryStore & SharedEffectLedger,
  skip: [
    'handles share events; exactly one member adopts a closed handle’s work',
    'a tenure on one handle waits for members on another, and they for it',
    'the same where each has its own handle and may lose it',
  ].map((test) => ({ test, reason })),
});
