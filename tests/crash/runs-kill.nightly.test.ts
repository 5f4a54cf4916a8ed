/** Durable runs by each of their carriers, through a night of kills. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, onTestFinished, test } from 'vitest';
import { dbosCarriers } from '../support/engines/dbos-runs.ts';
import { restateCarriers } from '../support/engines/restate-runs.ts';
import { restateProgram } from '../support/engines/restate-server.ts';
import { withPostgres } from '../support/postgres/index.ts';
import { runWorkers } from './run-workers.ts';
import { type CarriedWork, type Carriers, killCarriers } from './runs-kill.ts';

/** `ASSIZE_CRASH_RUNS=1000` for a long night. A fifth as many processes are killed. */
const RUNS = Number(process.env['ASSIZE_CRASH_RUNS'] ?? 150);
const MANY = { runs: RUNS, kills: Math.ceil(RUNS / 5), betweenMs: 1_000 };
const TIMEOUT_MS = 600_000 + RUNS * 3_000;

const workers = (work: CarriedWork): Promise<Carriers> => runWorkers(3, work);

function sqlite(): string {
  const folder = mkdtempSync(join(tmpdir(), 'assize-runs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return `sqlite:${join(folder, 'store.db')}`;
}

test(
  'sqlite: durable runs of workers end once through a night of kills',
  () => killCarriers({ url: sqlite(), carriers: workers, ...MANY }),
  TIMEOUT_MS,
);

withPostgres(
  'postgres',
  (postgres) => {
    test(
      'durable runs of workers end once through a night of kills',
      () =>
        killCarriers({ url: postgres.url(), server: postgres.server, carriers: workers, ...MANY }),
      TIMEOUT_MS,
    );

    test(
      'durable runs in DBOS end once through a night of kills',
      () => {
        const dbos = (work: CarriedWork): Promise<Carriers> => dbosCarriers(postgres.url(), work);
        return killCarriers({
          url: postgres.url(),
          server: postgres.server,
          carriers: dbos,
          ...MANY,
        });
      },
      TIMEOUT_MS,
    );
  },
  { own: true },
);

describe.skipIf(restateProgram() === undefined)(
  'Restate (absent without npm ci --prefix peers)',
  () => {
    test(
      'durable runs in a cluster of Restate end once through a night of kills',
      () => killCarriers({ url: sqlite(), carriers: restateCarriers, ...MANY }),
      TIMEOUT_MS,
    );
  },
);
