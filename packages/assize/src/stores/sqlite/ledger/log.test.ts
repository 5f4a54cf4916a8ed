import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { logStoreSuite } from '@assize/testing/internal/log-store-suite.ts';
import { openSqlite } from '../open.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-log-'));

logStoreSuite({
  name: 'sqlite',
  open: (place) => openSqlite({ path: join(folder, `${place}.db`) }),
  remove: async () => rmSync(folder, { recursive: true }),
});
