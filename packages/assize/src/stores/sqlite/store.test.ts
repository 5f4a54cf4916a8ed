import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ledgerStoreSuite } from '@assize/testing/internal/ledger-store-suite.ts';
import { openSqlite } from './open.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-store-'));

ledgerStoreSuite({
  name: 'sqlite',
  open: (place) => openSqlite({ path: join(folder, `${place}.db`) }),
  remove: async () => rmSync(folder, { recursive: true }),
});
