import { withPostgres } from '../../../tests/support/postgres/index.ts';
import { effectStoreSuite } from '../../testing/effect-store-suite.ts';
import { openPostgres } from './index.ts';

withPostgres('effects', (postgres) => {
  effectStoreSuite({ name: 'postgres', open: (place) => openPostgres({ url: postgres.url(place) }) });
});
