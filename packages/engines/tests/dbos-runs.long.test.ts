/** Durable runs of agents as workflows of DBOS, whose processes and server are killed. */
import { test } from 'vitest';
import { killCarriers } from '../../../tests/crash/runs-kill.ts';
import { dbosCarriers } from '../../../tests/support/engines/dbos-runs.ts';
import { withPostgres } from '../../../tests/support/postgres/index.ts';

withPostgres(
  'DBOS',
  (postgres) => {
    test('durable runs in workflows end once though processes and server die', () =>
      killCarriers({
        ...{
          url: postgres.url(),
          server: postgres.server,
          carriers: (work) => dbosCarriers(postgres.url(), work),
        },
        ...{ runs: 12, kills: 4, betweenMs: 700 },
      }));
  },
  { own: true },
);
