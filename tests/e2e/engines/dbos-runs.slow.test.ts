/** Durable runs of agents as workflows of DBOS, whose processes are killed. */
import { test } from 'vitest';
import { killCarriers } from '../../crash/runs-kill.ts';
import { dbosCarriers } from '../../support/engines/dbos-runs.ts';
import { withPostgres } from '../../support/postgres/index.ts';

withPostgres('DBOS', (postgres) => {
  test('durable runs in workflows end once though their processes are killed', () =>
    killCarriers({
      ...{ url: postgres.url(), carriers: (work) => dbosCarriers(postgres.url(), work) },
      ...{ runs: 12, kills: 4, betweenMs: 700 },
    }));
});
