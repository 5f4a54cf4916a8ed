import { test } from 'vitest';
import { withPostgres } from '../support/postgres/index.ts';
import { strikeCells } from './cells-faults.ts';

// Four cells under load, each with a fault. The long form is in cells.nightly.test.ts.

const SEED = Number(process.env['ASSIZE_SEED']);

withPostgres(
  'a deployment of cells',
  (postgres) => {
    test(`a cell's fault loses nothing and stays its own (seed ${SEED})`, () =>
      strikeCells({
        ...{ shared: postgres.server, seed: SEED, calm: 3 },
        ...{ patienceMs: 3_000, killsMoverAt: ['verifying'], linkFaults: ['silent'] },
        movesBack: false,
      }));
  },
  { own: true },
);
