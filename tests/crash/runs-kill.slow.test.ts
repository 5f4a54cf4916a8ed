import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, test } from 'vitest';
import { withPostgres } from '../support/postgres/index.ts';
import { runWorkers } from './run-workers.ts';
import { type CarriedWork, killCarriers } from './runs-kill.ts';

const FEW = {
  runs: 12,
  carriers: (work: CarriedWork) => runWorkers(2, work),
  kills: 4,
  betweenMs: 700,
};

test('sqlite: durable runs end once though their workers are killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-runs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await killCarriers({ url: `sqlite:${join(folder, 'store.db')}`, ...FEW });
});

withPostgres(
  'postgres',
  (postgres) => {
    test('durable runs end once though their workers and the server are killed', () =>
      killCarriers({ url: postgres.url(), server: postgres.server, ...FEW }));
  },
  { own: true },
);
