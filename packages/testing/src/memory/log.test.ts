import { logStoreSuite } from '../log-store-suite.ts';
import { IN_MEMORY } from './in-memory.ts';

for (const [name, open] of Object.entries(IN_MEMORY)) logStoreSuite({ name, open, reopens: false });
