import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withPostgres } from '../../../../tests/support/postgres/index.ts';
import { problemOf } from './statements.ts';

// The databases themselves decide which part of a text starts or ends a transaction, and so does
// the composition of the text.

const CONTROLS = [
  ...[
    '/* c */ COMMIT',
    '-- c\nCOMMIT',
    ';COMMIT',
    '/**/ ROLLBACK',
    ' ; ; -- x\n /* y */;\tEND',
    'BEGIN IMMEDIATE',
  ],
  ...[
    '/* a /* b */ COMMIT /* c */ */ -- */',
    '/* a /* b */ c */ COMMIT',
    '/*/ x */ commit',
    '/* x /*/ commit',
  ],
  ...[
    '# c\nCOMMIT',
    '/*! COMMIT */',
    '/*!50000 COMMIT*/',
    '/*M!100100 COMMIT */',
    '-- c\rCOMMIT',
    '\ufeffCOMMIT',
  ],
  ...[
    'start transaction',
    'Abort',
    'savepoint x',
    'release x',
    'rollback to x',
    "COMMIT PREPARED 'x'",
    "xa end 'x'",
  ],
  ...[
    "SET client_encoding = 'GBK'",
    'set local client_encoding to gbk',
    "SET NAMES 'GBK'",
    'RESET client_encoding',
  ],
  ...[
    "PREPARE /* a */ TRANSACTION 'x'",
    'set transaction read only',
    'SET SESSION TRANSACTION READ ONLY',
  ],
  ...[
    'set session characteristics as transaction read only',
    'SET autocommit = 1',
    'SET @@session.autocommit=1',
  ],
];
test.each(CONTROLS)('%j is refused', (text) => {
  expect(problemOf(text)).toBe('only the tool starts and ends transactions');
});

const SEVERAL = [
  ...[
    'SELECT 1; SELECT 2',
    "SELECT 'a''b'; SELECT 2",
    `SELECT "a;"; SELECT 2`,
    'SELECT 1--1\n; SELECT 2',
  ],
  ...[
    "SELECT 'a\\'; SELECT 2 -- '",
    "SELECT 'a\\'' ; SELECT 2 -- '",
    'SELECT `a`; x',
    'SELECT [a]; x',
  ],
];
test.each(SEVERAL)('%j is more than one statement', (text) => {
  expect(problemOf(text)).toContain('a text must be one statement');
});

const POSTGRES_SEVERAL = [
  ...[
    'SELECT $a$ b $a$; SELECT 2',
    "SELECT 1$$' $$; SELECT 2 --'",
    'SELECT a$$; SELECT b$$',
    'SELECT $1$$; x$$',
  ],
  ...[
    "SELECT E'a\\'' ; x --'",
    "SELECT 1E'\\'' ; x --'",
    "SELECT E'a'\n'\\' ' ; x --'",
    "SELECT E'a'  '\\' ; x --",
  ],
  // A character that looks like a space belongs to a name, and so does the text after it.
  ...['SELECT 1 AS \u00a0$$; x --$$', 'SELECT 1 AS \u2028$$; x --$$', "SELECT \u00a0E'\\'; x --'"],
  // For a setting that an earlier statement may have changed.
  ...["SELECT 'a\\''; x --'", "SELECT 'C:\\', 'a; b'"],
];
test.each(POSTGRES_SEVERAL)('%j is more than one statement of PostgreSQL', (text) => {
  expect(problemOf(text, '$1')).toContain('a text must be one statement');
});

const SINGLE = [
  ...[
    'SELECT 1;',
    'SELECT 1 ; -- done\n',
    ';; SELECT 1',
    "SELECT ';', 'it''s; so'",
    'SELECT ";" AS "a""b;"',
    '',
  ],
  ...[
    'UPDATE t SET begun = 1',
    'SELECT 1 AS "commit"',
    'DELETE FROM t -- ; COMMIT',
    'SELECT /* ; COMMIT */ 1',
  ],
  ...[
    'PREPARE x AS SELECT 1',
    'SET x = 1',
    'SELECT case when 1 then 2 end',
    'INSERT INTO committed VALUES (?)',
  ],
  'commitment',
];
test.each(SINGLE)('%j is run', (text) => {
  expect([problemOf(text), problemOf(text, '$1')]).toEqual([undefined, undefined]);
});

const POSTGRES_SINGLE = [
  ...[
    'DO $$ BEGIN PERFORM 1; END $$',
    'SELECT $a$ ; $$ ; $a$',
    "SELECT E'\\'; COMMIT; '",
    "SELECT 'C:\\', 'a, b'",
  ],
  ...[
    "SELECT E'a'\n  -- c\n'\\'; COMMIT'",
    "SELECT E'a' -- c\n'\\'; COMMIT'",
    "SELECT E'a'\r'\\'; COMMIT'",
    '/* a /* b */ ; COMMIT; */ SELECT 1',
    'SELECT a[1]',
  ],
];
test.each(POSTGRES_SINGLE)('%j is run on PostgreSQL', (text) => {
  expect(problemOf(text, '$1')).toBe(undefined);
});

test.each([
  "SELECT $a(');COMMIT --'",
  "SELECT @a(');COMMIT --'",
  "SELECT :a(');COMMIT --'",
  "SELECT #a::b(');COMMIT --'",
])('%j has a variable with a quote in its name, as SQLite reads it', (text) =>
  expect(problemOf(text)).toBeDefined(),
);

test('a text is read in a time that grows with its length', () => {
  // With its square it would be minutes.
  expect(problemOf(`SELECT E'a'${'\n'.repeat(1_000_000)} || 'b'`, '$1')).toBe(undefined);
});

/** Parts of texts that databases may read differently. */
const PIECES = [
  ...['$a(', '@a(', ')'],
  ...[
    '/*',
    '*/',
    '--',
    '\n',
    '\r',
    "'",
    "''",
    '"',
    '`',
    '[',
    ']',
    ';',
    ' ',
    '\\',
    '$$',
    '$a$',
    '$',
    '#',
    '/*!',
    'E',
    '1',
  ],
  ...['COMMIT', 'ROLLBACK', 'SELECT 1', 'SELECT', 'a', ',', '*'],
];
const texts = (pieces: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof(
    fc.array(fc.constantFrom(...pieces), { maxLength: 14 }).map((all) => all.join('')),
    // A text with a separate last statement ends the transaction more often.
    fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((all) => `${all.join('')};COMMIT`),
    fc
      .tuple(
        fc.array(fc.constantFrom(...pieces), { maxLength: 6 }),
        fc.array(fc.constantFrom(...pieces), { maxLength: 6 }),
      )
      .map(([before, after]) => `SELECT 1 ${before.join('')}; COMMIT; SELECT 1 ${after.join('')}`),
  );

test('no accepted text, however composed, lets SQLite end the transaction', () => {
  using database = new DatabaseSync(':memory:');
  let [ended, run] = [0, 0];
  fc.assert(
    fc.property(texts(PIECES), (text) => {
      if (!database.isTransaction) database.exec('BEGIN');
      try {
        // All statements of a text, one after the other: those before an invalid one are run.
        database.exec(text);
      } catch {
        // SQLite may have ended the transaction before it refused the text.
      }
      if (problemOf(text) === undefined) {
        expect(database.isTransaction, text).toBe(true);
        run++;
      } else if (!database.isTransaction) ended++;
    }),
    { numRuns: 5_000 },
  );
  expect(Math.min(ended, run)).toBeGreaterThan(30);
});

withPostgres('postgres', (postgres) => {
  let client: Client;
  beforeAll(async () => {
    client = new Client({ connectionString: postgres.url().replace(/[?&]schema=[^&]*/, '') });
    await client.connect();
  });
  afterAll(() => client.end());

  test('no accepted text, however composed, ends the transaction', async () => {
    let [ended, run] = [0, 0];
    const pieces = [...PIECES, '\u00a0', '\u2028', '\v', "E'", '\t'];
    await fc.assert(
      fc.asyncProperty(texts(pieces), async (text) => {
        const isRun = problemOf(text, '$1') === undefined;
        await client.query('BEGIN; SAVEPOINT here');
        // Without values a text may have several statements.
        await client.query(text).catch(() => undefined);
        const isOpen = await client.query('ROLLBACK TO SAVEPOINT here').then(
          () => true,
          () => false,
        );
        await client.query('ROLLBACK');
        if (isRun) {
          expect(isOpen, text).toBe(true);
          run++;
        } else if (!isOpen) ended++;
      }),
      { numRuns: 400 },
    );
    expect(Math.min(ended, run)).toBeGreaterThan(5);
  });
});

// Texts built from known statements, in the words of each database.
interface Words {
  readonly placeholders: '$1' | '?';
  readonly blanks: readonly string[];
  readonly inner: readonly string[];
}
const ALL_BLANKS = [' ', '\n', '/* ; COMMIT */', '-- ; COMMIT "\n', "/* it's */", '/* ` [ */'];
const ALL_INNER = [
  "'; COMMIT; --'",
  "'it''s /*'",
  '"; COMMIT"',
  'a',
  '+',
  '1',
  'e',
  "x'00'",
  '"--"',
  '"a""b"',
];
const WORDS: readonly Words[] = [
  { placeholders: '?', blanks: ALL_BLANKS, inner: ALL_INNER },
  {
    placeholders: '$1',
    blanks: [...ALL_BLANKS, '/* /* */ ; COMMIT */', '--\r'],
    inner: [
      ...ALL_INNER,
      '$$; COMMIT$$',
      "$a$ ' $$ ; $a$",
      "E'\\'; COMMIT'",
      "e'\\\\'",
      // After E'…' and the end of a line a string goes on, with its escapes: this one is to be a
      // string of its own.
      "+ '\\\\'",
      'a$$b',
      '$1',
      "E'a'\n'\\';'",
    ],
  },
];

test.each(WORDS)(
  'only texts with several or control statements are refused: $placeholders',
  (words) => {
    const blank = fc
      .array(fc.constantFrom(...words.blanks), { maxLength: 2 })
      .map((all) => ` ${all.join('')} `);
    const statement = fc
      .tuple(
        fc.constantFrom('SELECT', 'insert', 'commit', 'End', 'BEGIN'),
        fc.array(fc.tuple(blank, fc.constantFrom(...words.inner)), { maxLength: 4 }),
      )
      .map(([first, rest]) => ({ first, text: [first, ...rest.flat()].join('') }));
    const made = fc.tuple(
      fc.array(fc.option(statement), { maxLength: 3 }),
      fc.array(blank, { minLength: 8, maxLength: 8 }),
    );
    fc.assert(
      fc.property(made, ([parts, blanks]) => {
        const text = parts
          .map((part, i) => `${blanks[i * 2]}${part?.text ?? ''}${blanks[i * 2 + 1]}`)
          .join(';');
        const firsts = parts.flatMap((part) => part?.first ?? []);
        const isSound =
          firsts.length <= 1 && firsts.every((first) => first === 'SELECT' || first === 'insert');
        expect(problemOf(text, words.placeholders) === undefined, text).toBe(isSound);
      }),
      { numRuns: 20_000 },
    );
  },
);
