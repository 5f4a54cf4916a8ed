import { logStoreSuite } from '../../testing/log-store-suite.ts';
import { MemoryStore } from './store.ts';

logStoreSuite({ name: 'memory', open: async () => new MemoryStore(), reopens: false });
