import { StoreError } from 'assize/internal/stores/errors.ts';
import { describe, expect, test } from 'vitest';
import { ConnectionLost, isSerializationFailure, sqlState, storeError } from './errors.ts';

const PATH = 'postgres://host:5432/database?schema=assize';

function coded(code: string, message = 'what went wrong'): Error {
  return Object.assign(new Error(message), { code });
}

// Errors of the server. open.test.ts and fault.test.ts also produce most of them with a real
// server.
const STATES: readonly (readonly [string, StoreError['code'], boolean, RegExp])[] = [
  ['28P01', 'store_failed', false, /password/],
  ['28000', 'store_failed', false, /user/],
  ['42501', 'store_failed', false, /Grant/],
  ['3D000', 'store_not_found', false, /Create/],
  ['25006', 'store_readonly', false, /primary/],
  ['53300', 'store_unreachable', true, /max_connections/],
  ['53100', 'store_failed', true, /disk/],
  ['53200', 'store_failed', true, /memory/],
  ['55P03', 'store_locked', true, /locked/],
  ['57014', 'store_failed', true, /statementTimeoutMs/],
  ['57P01', 'store_unreachable', true, /Try again/],
  ['57P03', 'store_unreachable', true, /starting/],
  ['08006', 'store_unreachable', true, /Try again/],
  ['40P01', 'store_locked', true, /Try again/],
  ['42P01', 'store_failed', false, /Open it again/],
  ['42883', 'store_failed', false, /Open it again/],
  ['26000', 'store_failed', false, /pool/],
  ['XX001', 'store_corrupt', false, /backup/],
  ['22P02', 'store_failed', false, /Writing to .* failed/],
];

// Errors of the driver and the system.
const CODES: readonly (readonly [string, string, StoreError['code'], boolean])[] = [
  ['ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:5432', 'store_unreachable', true],
  ['ENOTFOUND', 'getaddrinfo ENOTFOUND host', 'store_unreachable', true],
  ['ECONNRESET', 'read ECONNRESET', 'store_unreachable', true],
  ['EPIPE', 'write EPIPE', 'store_unreachable', true],
  [
    'SELF_SIGNED_CERT_IN_CHAIN',
    'self-signed certificate in certificate chain',
    'store_unreachable',
    false,
  ],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate', 'store_unreachable', false],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'Hostname/IP does not match', 'store_unreachable', false],
  [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'unable to verify the first certificate',
    'store_unreachable',
    false,
  ],
  ['', 'The server does not support SSL connections', 'store_unreachable', false],
  ['', 'Connection terminated unexpectedly', 'store_unreachable', true],
  ['', 'timeout expired', 'store_unreachable', true],
  ['', 'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', 'store_failed', false],
  ['', 'something else', 'store_failed', false],
];

describe('every error states a remedy, and has a code of its own kind', () => {
  test.each(STATES)('SQLSTATE %s is %s', (state, code, retryable, says) => {
    const cause = coded(state);
    const error = storeError(cause, PATH, 'Writing to');
    expect(error).toMatchObject({
      code,
      retryable,
      evidence: { path: PATH, sqlstate: state },
      cause,
    });
    expect(error.message).toMatch(says);
    expect(error.message).toContain(PATH);
    expect(sqlState(cause)).toBe(state);
  });

  test.each(CODES)('%s %s is %s', (code, message, expected, retryable) => {
    const error = storeError(coded(code, message), PATH, 'Reading');
    expect(error).toMatchObject({ code: expected, retryable, evidence: { path: PATH } });
    expect(error.evidence).not.toHaveProperty('sqlstate');
  });
});

test('a missing type means a changed store; other internal errors stay as is', () => {
  const [taken, other] = ['cache lookup failed for type 17686', 'unexpected state'].map((message) =>
    storeError(coded('XX000', message), PATH, 'Writing to'),
  );
  expect(taken).toMatchObject({
    code: 'store_failed',
    message: expect.stringMatching(/Open it again/),
  });
  expect(other!.message).toMatch(/failed: unexpected state/);
});

test('of several addresses that refuse, the first one says why', () => {
  const refused = [coded('ECONNREFUSED', 'connect ECONNREFUSED ::1:5432'), coded('ECONNREFUSED')];
  const error = storeError(
    Object.assign(new AggregateError(refused), { code: 'ECONNREFUSED' }),
    PATH,
    'Reading',
  );
  expect(error).toMatchObject({
    code: 'store_unreachable',
    message: expect.stringContaining('::1:5432'),
  });
});

test('an error that is one of the store already stays as it is', () => {
  const error = new StoreError('store_closed', 'closed');
  expect(storeError(error, PATH, 'Reading')).toBe(error);
});

test('a lost connection can be tried again', () => {
  const error = storeError(new ConnectionLost(coded('ECONNRESET'), true), PATH, 'Following');
  expect(error).toMatchObject({ code: 'store_unreachable', retryable: true });
});

test('only a serialization failure is retried unchanged', () => {
  expect(
    ['40001', '40P01', '23P01', '55P03', '23505', ''].map((code) =>
      isSerializationFailure(coded(code)),
    ),
  ).toEqual([true, true, true, false, false, false]);
});
