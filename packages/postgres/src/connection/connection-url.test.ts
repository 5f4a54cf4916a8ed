import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { openPostgres } from '../index.ts';
import { readUrl } from './connection-url.ts';

test.each([
  ['postgres://localhost/x', 'assize'],
  ['postgresql://u:p@h:5432/d?schema=_a1', '_a1'],
  ['postgres://u:p%2F%40%23%3F@h/d?sslmode=require&schema=ledger', 'ledger'],
  ['postgres:///d?host=/var/run/postgresql', 'assize'],
  ['postgres://', 'assize'],
])('%s has schema %s', (url, schema) => {
  expect(readUrl(url)).toEqual({ url, servers: [url], schema, target: undefined });
});

test('parameters of other programs pass, and a misspelt one is named', () => {
  const query =
    'sslmode=require&sslcert=c&sslkey=k&pgbouncer=true&channel_binding=require&connect_timeout=3&options=x';
  expect(readUrl(`postgres://h/d?${query}&application_name=a&ssl=true&schema=x`).schema).toBe('x');
  expect(() => readUrl('postgres://h/d?shema=x')).toThrow('a parameter is misspelt: write schema');
});

test('a URL with several hosts names a server for each', () => {
  const url =
    'postgresql://u:p,q@a,[::1]:5433,c:5434/d?target_session_attrs=prefer-standby&schema=x';
  expect(readUrl(url)).toEqual({
    url,
    servers: ['a', '[::1]:5433', 'c:5434'].map(
      (host) => `postgresql://u:p,q@${host}/d?target_session_attrs=prefer-standby&schema=x`,
    ),
    schema: 'x',
    target: 'prefer-standby',
  });
});

describe('an invalid store URL is refused before any I/O, and not in the error', () => {
  test.each([
    '',
    'postgres:x',
    'mysql://u:secret@h/d',
    'POSTGRES://u:secret@h/d',
    'postgres://u:12/secret@h/d',
    'postgres://u:12#secret@h/d',
    'postgres://u:12?secret@h/d',
    'postgres://u:secret@h:port/d',
    'postgres://u:secret@h:99999/d',
    'postgres://u:secret%@h:x/d',
    'postgres://u:secret@h/d?sslrootcert=/nothing/there',
    'postgres://u:secret@h/d?schema=',
    'postgres://u:secret@h/d?schema=Ledger',
    'postgres://u:secret@h/d?schema=a-b',
    'postgres://u:secret@h/d?schema=a%22b',
    'postgres://u:secret@h/d?schema=1a',
    'postgres://u:secret@h/d?schema=pg_temp',
    'postgres://u:secret@h/d?schema=information_schema',
    'postgres://u:secret@h,/d',
    'postgres://u:secret@h,i/d?host=/run',
    'postgres://u:secret@h,i:port/d',
    'postgres://u:secret@h/d?target_session_attrs=master',
    'postgres://u:secret@h/d?shema=ledger',
    'postgres://u:secret@h/d?Schema=ledger',
    'postgres://u:secret@h/d?sslmod=verify-full',
    'postgres://u:secret@h/d?target_session_attr=standby',
    `postgres://u:secret@h/d?schema=${'a'.repeat(64)}`,
  ])('%s', async (url) => {
    const error = await openPostgres({ url }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      name: 'StoreError',
      code: 'store_invalid_input',
      retryable: false,
    });
    expect(inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error)).not.toContain(
      'secret',
    );
  });
});

test.each([
  { mode: 'write' },
  { durability: 'fast' },
  { readers: 0 },
  { lockTimeoutMs: -1 },
  { scrub: 'never' as never },
  { statementTimeoutMs: 0 },
  { connectTimeoutMs: 1.5 },
  { connectAttempts: Number.NaN },
])('%j is not an option', async (option) => {
  const opening = openPostgres({ url: 'postgres://localhost/x', ...(option as object) });
  await expect(opening).rejects.toMatchObject({ code: 'store_invalid_input' });
});

test.each([{ reader: 2 }, { vectors: 'exact' }, { password: 'secret' }])(
  '%j is an option of none',
  async (option) => {
    const opening = openPostgres({ url: 'postgres://localhost/x', ...option });
    const error: Error = await opening.then(
      () => new Error('it opened'),
      (thrown) => thrown,
    );
    expect(error).toMatchObject({
      code: 'bad_argument',
      message: expect.stringContaining(Object.keys(option)[0]!),
    });
    expect(error.message).not.toContain('secret');
  },
);
