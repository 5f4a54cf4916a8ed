import { ledgerStoreSuite } from '@assize/testing/internal/ledger-store-suite.ts';
import { oracleStoreSuite } from '@assize/testing/internal/oracle-store-suite.ts';
import { cases } from '../../../tests/support/cases.ts';
import { withPostgres } from '../../../tests/support/postgres/index.ts';
import { openPostgres } from './index.ts';

withPostgres('a server', (postgres) => {
  const suite = {
    name: 'postgres',
    open: (place: string) => openPostgres({ url: postgres.url(place) }),
    runs: cases,
  };
  ledgerStoreSuite(suite);
  oracleStoreSuite(suite);
});
