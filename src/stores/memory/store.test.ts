import { ledgerStoreSuite } from '../../testing/ledger-store-suite.ts';
import { MemoryStore } from './store.ts';

const reason = 'nothing survives the object';

ledgerStoreSuite({
  name: 'memory',
  open: async () => new MemoryStore(),
  skip: [
    { test: 'a store opened again has all that was committed', reason },
    { test: 'two handles on one place see and stop each other', reason },
    { test: 'two handles that race leave one chain', reason },
  ],
});
