import { setTimeout as sleep } from 'node:timers/promises';
import { effectStoreSuite } from '@assize/testing/internal/effect-store-suite.ts';
import { factStoreSuite } from '@assize/testing/internal/fact-store-suite.ts';
import { joined } from '@assize/testing/internal/laws/sharing.ts';
import { ledgerStoreSuite } from '@assize/testing/internal/ledger-store-suite.ts';
import { sharedEffectStoreSuite } from '@assize/testing/internal/shared-effect-store-suite.ts';
import { expect, test } from 'vitest';
import { withPostgres } from '../../../tests/support/postgres/index.ts';
import { openPostgres } from './index.ts';

/**
 * Settings that administrators can make for a server, a database or a role, without regard to a
 * store.
 */
const SETTINGS = {
  array_nulls: 'off',
  backslash_quote: 'off',
  bytea_output: 'escape',
  check_function_bodies: 'off',
  client_encoding: 'LATIN1',
  client_min_messages: 'error',
  DateStyle: 'German, DMY',
  default_transaction_deferrable: 'on',
  default_transaction_isolation: 'serializable',
  escape_string_warning: 'on',
  extra_float_digits: '-15',
  gin_fuzzy_search_limit: '1',
  IntervalStyle: 'sql_standard',
  lock_timeout: '1',
  quote_all_identifiers: 'on',
  row_security: 'off',
  search_path: 'information_schema',
  standard_conforming_strings: 'off',
  statement_timeout: '1',
  synchronize_seqscans: 'on',
  synchronous_commit: 'off',
  TimeZone: 'Pacific/Chatham',
  transform_null_equals: 'on',
  xmloption: 'document',
};

withPostgres(
  'a server with settings that no store would choose',
  (postgres) => {
    const suite = {
      name: 'postgres',
      open: (place: string) => openPostgres({ url: postgres.url(place) }),
    };
    ledgerStoreSuite(suite);
    effectStoreSuite(suite);
    sharedEffectStoreSuite(suite);
    factStoreSuite(suite);

    test('no idle group member or read snapshot is disconnected by a timeout', async () => {
      const timeouts = ['idle_session_timeout', 'idle_in_transaction_session_timeout'];
      for (const name of timeouts)
        await postgres.query(`ALTER DATABASE postgres SET ${name} = '1s'`);
      const store = await openPostgres({ url: postgres.url() });
      try {
        const member = await joined(store);
        const seen = { space: 's', subject: 'a', predicate: 'b' };
        let moments = 0;
        await store.withReadSnapshot(async (facts) => {
          moments += 1;
          await facts.facts(seen);
          await sleep(2_000);
          await facts.facts(seen);
        });
        expect(moments).toBe(1);
        expect(await member.look()).toEqual([]);
      } finally {
        for (const name of timeouts) await postgres.query(`ALTER DATABASE postgres RESET ${name}`);
        await store.close();
      }
    });
  },
  { own: true, settings: SETTINGS },
);
