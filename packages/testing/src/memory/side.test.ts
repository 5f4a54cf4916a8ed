import { sideStoreSuite } from '../side-store-suite.ts';
import { IN_MEMORY } from './in-memory.ts';

const reason = 'nothing survives the object';

for (const [name, open] of Object.entries(IN_MEMORY))
  sideStoreSuite({
    name,
    open,
    skip: [
      { test: 'a store opened again has the side rows, and those that close still wrote', reason },
      { test: 'of two handles that count with compare-and-set, no count is lost', reason },
      { test: 'two handles that move rows in opposite orders end, and lose no row', reason },
    ],
  });
