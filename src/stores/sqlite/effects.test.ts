import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { effectStoreSuite } from '../../testing/effect-store-suite.ts';
import { openSqlite } from './open.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-effects-'));
afterAll(() => rmSync(folder, { recursive: true }));

effectStoreSuite({ name: 'sqlite', open: (place) => openSqlite({ path: join(folder, `${place}.db`) }) });
