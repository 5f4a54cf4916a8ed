import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withPostgres } from '../../../../tests/support/postgres/index.ts';
import { composite } from './row.ts';

withPostgres('a row as a text', (postgres) => {
  test('is read by the server as the members it was made of', async () => {
    const schema = postgres.schemaOf(postgres.url());
    await postgres.query(`CREATE SCHEMA "${schema}";
      CREATE TYPE "${schema}".made AS (a text, n bigint, b text, x double precision, c text, held boolean, d text)`);
    // Characters that are quoted, escaped, ignored or delimiters in a composite value, at a higher
    // rate than random text has.
    const special = fc.string({
      unit: fc.constantFrom(
        '"',
        '\\',
        ',',
        '(',
        ')',
        '{',
        '}',
        ' ',
        '\n',
        '\t',
        'NULL',
        '.',
        'a',
        'ü',
        '😀',
      ),
    });
    const anything = fc
      .string({ unit: 'binary' })
      .filter((text) => text.isWellFormed() && !text.includes('\0'));
    const text = fc.option(fc.oneof(special, anything));
    const row = fc.tuple(
      text,
      fc.option(fc.maxSafeInteger()),
      text,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      text,
      fc.boolean(),
      text,
    );
    const read = `SELECT to_json(ARRAY[x.a, x.n::text, x.b, x.c, x.held::text, x.d]) AS texts, x.x
      FROM unnest($1::"${schema}".made[]) WITH ORDINALITY AS x ORDER BY x.ordinality`;
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 50 }), async (rows) => {
        const found = await postgres.query(read, [rows.map(composite)]);
        expect(found).toEqual(
          rows.map(([a, n, b, x, c, is, d]) => ({
            texts: [a, n === null ? null : String(n), b, c, String(is), d],
            x: x === 0 ? 0 : x,
          })),
        );
      }),
      { numRuns: 60 },
    );
  });
});
