import { test } from 'vitest';
import { withPostgres } from '../support/postgres/index.ts';
import { strikeCells } from './cells-faults.ts';

// With the store's own limits of time, both faults of a link, a mover that is killed twice, and a
// move back.

const SEED = Number(process.env['ASSIZE_SEED']);

withPostgres(
  'a deployment of cells, for longer',
  (postgres) => {
    test(`a cell's fault loses nothing and stays its own (seed ${SEED})`, () =>
      strikeCells({
        ...{ shared: postgres.server, seed: SEED, calm: 20 },
        ...{ killsMoverAt: ['copying', 'verifying'], linkFaults: ['silent', 'closed'] },
        movesBack: true,
      }));
  },
  { own: true },
);
