import { withPostgres } from '../../../tests/support/postgres/index.ts';
import { snapshotStoreSuite } from '../../testing/snapshot-store-suite.ts';
import { openPostgres } from './index.ts';

withPostgres('snapshots', (postgres) => {
  snapshotStoreSuite({ name: 'postgres', open: (place) => openPostgres({ url: postgres.url(place) }) });
});
