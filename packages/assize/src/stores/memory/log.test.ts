import { logStoreSuite } from '@assize/testing/internal/log-store-suite.ts';
import { MemoryStore } from './store.ts';

logStoreSuite({ name: 'memory', open: async () => new MemoryStore(), reopens: false });
