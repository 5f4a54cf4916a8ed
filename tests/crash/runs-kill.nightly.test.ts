import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, test } from 'vitest';
import { withPostgres } from '../support/postgres/index.ts';
import { runWorkers } from './run-workers.ts';
import { type CarriedWork, killCarriers } from './runs-kill.ts';

/** `ASSIZE_CRASH_RUNS=1000` for a long night. A fifth as many workers are killed. */
const RUNS = Number(process.env['ASSIZE_CRASH_RUNS'] ?? 150);
const MANY = {
  runs: RUNS,
  carriers: (work: CarriedWork) => runWorkers(3, work),
  kills: Math.ceil(RUNS / 5),
  betweenMs: 1_000,
};
const TIMEOUT_MS = 600_000 + RUNS * 1_500;

test(
  'sqlite: durable runs end once through a night of kills',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'assize-runs-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    await killCarriers({ url: `sqlite:${join(folder, 'store.db')}`, ...MANY });
  },
  TIMEOUT_MS,
);

withPostgres('postgres', (postgres) => {
  test(
    'durable runs end once through a night of kills',
    () => killCarriers({ url: postgres.url(), ...MANY }),
    TIMEOUT_MS,
  );
});
