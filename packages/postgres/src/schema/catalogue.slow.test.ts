import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { withPostgres } from '../../../../tests/support/postgres/index.ts';
import { loadDriver } from '../connection/driver.ts';
import { Session } from '../connection/session.ts';
import { catalogueKey, catalogueObject, catalogueValues, READ_CATALOGUE } from './check-schema.ts';
import { MIGRATIONS, migrate } from './migrate.ts';

/** Written by `npx vitest run --mode slow FILE -u` after a change of the schema. */
const FILE = fileURLToPath(new URL('catalogue.json', import.meta.url));

// The server quotes the second name.
const SCHEMAS = ['plain', 'user'];

withPostgres('the catalogue', (postgres) => {
  test.each(SCHEMAS)(
    'has every object that the migrations make in the schema %s',
    async (schema) => {
      const driver = await loadDriver();
      const session = await Session.open({
        driver,
        url: postgres.url(),
        path: 'made',
        applicationName: 'catalogue',
        connectTimeoutMs: 10_000,
        lockTimeoutMs: 10_000,
        statementTimeoutMs: 10_000,
      });
      try {
        await migrate(session, schema, 'made', 'create');
        const values = catalogueValues(schema);
        // Also the functions that the catalogue lacks.
        values[1] = [...MIGRATIONS.join('\n').matchAll(/CREATE FUNCTION (\w+)/g)].map(
          ([, name]) => name,
        );
        const rows = await session.run(READ_CATALOGUE, values);
        const objects = rows
          .map(catalogueObject)
          .map((object) => [catalogueKey(object), object.definition] as const);
        const sorted = objects.sort(([a], [b]) => (a < b ? -1 : 1));
        await expect(
          `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`,
        ).toMatchFileSnapshot(FILE);
      } finally {
        if (session.isOpen)
          await session.run({
            text: `DROP SCHEMA IF EXISTS "${schema.replaceAll('"', '""')}" CASCADE`,
          });
        await session.end();
      }
    },
  );
});
