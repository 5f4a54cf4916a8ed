/** Every code of docs/errors.md has its status, or is a fault of the server. */
import { join } from 'node:path';
import { faultyStore } from '@assize/testing/internal';
import { MemoryStore } from '@assize/testing/memory';
import { LedgerFault } from 'assize/internal/ledger';
import { StoreError } from 'assize/internal/stores';
import { expect, test } from 'vitest';
import { readErrors } from '../../../../scripts/error-index.ts';
import { callOperation, pay, succeed } from '../../../../tests/support/server/calling.ts';
import { damaged } from '../../../../tests/support/server/damaged-store.ts';
import { pathOf, principalOf, problemFaults } from '../../../../tests/support/server/refusals.ts';
import { start } from '../../../../tests/support/server/serving.ts';
import { OPERATIONS } from '../../src/index.ts';
import { problemOf } from '../../src/problems/problem.ts';
import { codesWithStatus, statusOf } from '../../src/problems/status.ts';

/**
 * Codes without a status, by the first class that has them (`any`: every class): no request of a
 * client causes them, or their cause is damage that only an operator can repair. The answer is 500,
 * and the log of the server has the reason.
 */
const FAULTS_OF_THE_SERVER: Readonly<Record<string, readonly string[]>> = {
  AgentError: ['nondeterministic_agent'],
  CallError: [
    'bad_rules',
    'call_failed',
    'call_in_doubt',
    'call_pending',
    'call_refused',
    'cannot_pause',
    'no_identity',
    'tool_paused',
  ],
  CanonError: ['not_canonical'],
  CliError: ['unreadable_file'],
  ConfigError: ['grant_not_revoked'],
  ConformanceError: ['driver_ended', 'driver_silent'],
  EffectError: ['answer_unreadable', 'log_damaged'],
  ExportError: ['bad_export'],
  LedgerFault: [
    'bad_patch',
    'bad_signature',
    'blob_missing',
    'blob_tampered',
    'broken_chain',
    'column_mismatch',
    'effects_differ',
    'malformed',
    'overspent',
    'rule_broken',
    'source_missing',
    'tampered',
    'unsealed',
    'writ_missing',
    'writ_tampered',
  ],
  MerkleError: ['missing_node'],
  MiningError: ['not_expressible'],
  ModelError: [
    'content_filtered',
    'key_refused',
    'model_timeout',
    'provider_failed',
    'rate_limited',
    'request_refused',
    'token_limit',
  ],
  NoticeError: ['receiver_forbidden', 'receiver_refused'],
  OracleError: ['oracle_miss'],
  RunError: ['turns_used'],
  RuntimeError: ['wrong_signer'],
  StoreError: ['store_corrupt'],
  any: [
    'bad_answer',
    'bad_checkpoint',
    'bad_config',
    'damaged',
    'function_failed',
    'missing_package',
    'server_refused',
    'unreachable',
  ],
};

const { codes } = readErrors(join(import.meta.dirname, '../../../..'));

test('each code of docs/errors.md has a status, or is a fault of the server', () => {
  const unlisted = codes.filter(({ code }) => !codesWithStatus().has(code));
  const byClass = Map.groupBy(unlisted, ({ classes }) => classes?.[0] ?? 'any');
  const found = Object.fromEntries(
    [...byClass].map(([name, some]) => [name, some.map(({ code }) => code).sort()]),
  );
  const wanted = Object.entries(FAULTS_OF_THE_SERVER).map(([name, some]) => [
    name,
    [...some].sort(),
  ]);
  expect(found).toEqual(Object.fromEntries(wanted));
});

test('each code with a status is a code of docs/errors.md', () => {
  const known = new Set(codes.map(({ code }) => code));
  expect([...codesWithStatus().keys()].filter((code) => !known.has(code))).toEqual([]);
});

test('no code of a damaged ledger is an error of the client', () => {
  const damage = codes.filter((one) => one.classes?.[0] === 'LedgerFault');
  expect(damage.filter(({ code }) => statusOf(code) !== 500)).toEqual([]);
  expect(damage.length).toBeGreaterThan(10);
});

test('the problem of damage shows neither its place nor its text', () => {
  const fault = new LedgerFault({
    trajectory_id: 'main',
    seq: 3,
    code: 'malformed',
    detail: 'secret text',
  });
  const problem = problemOf(fault, 'id');
  expect(problem).toMatchObject({ status: 500, code: 'invalid_ledger', request_id: 'id' });
  expect(JSON.stringify(problem)).not.toContain('secret');
});

test('the problem of a store shows its code, and not its message', () => {
  const error = new StoreError('store_failed', 'SELECT secret FROM /var/lib/a.db failed', {
    retryable: true,
  });
  const problem = problemOf(error);
  expect(problem).toMatchObject({ status: 503, code: 'store_failed', retryable: true });
  expect(JSON.stringify(problem)).not.toContain('secret');
});

test('an error of unknown origin shows nothing', () => {
  for (const thrown of [
    new TypeError('secret'),
    'secret',
    undefined,
    { code: 'not_found', message: 'secret' },
  ]) {
    expect(problemOf(thrown)).toMatchObject({ status: 500, code: 'internal', retryable: false });
    expect(JSON.stringify(problemOf(thrown))).not.toContain('secret');
  }
});

test('a store that fails is 503 for each operation, and its log has the reason', async () => {
  let isDown = false;
  const store = faultyStore(new MemoryStore(), () => (isDown ? { kind: 'fails' } : undefined));
  const server = await start({ store });
  isDown = true;
  for (const one of OPERATIONS) {
    const asked = {
      token: server.tokens[principalOf(one)],
      key: 'k',
      ...(one.body !== undefined && { body: {} }),
    };
    const { headers, ...rest } = await server.ask(one.method.toUpperCase(), pathOf(one), asked);
    const type = headers.get('content-type') ?? '';
    expect(
      problemFaults({ ...rest, type }, 503, rest.body?.code),
      `${one.id} ${rest.text}`,
    ).toEqual([]);
    expect(rest.body.code).toMatch(/^store_/);
    expect(headers.get('retry-after')).toBe('1');
  }
  expect((await server.ask('GET', '/readyz')).status).toBe(503);
  expect((await server.ask('GET', '/healthz')).status).toBe(200);
  expect(
    server.lines.filter((line) => line.includes('"level":"error"')).length,
  ).toBeGreaterThanOrEqual(OPERATIONS.length);
  isDown = false;
  expect((await server.ask('GET', '/readyz')).status).toBe(200);
  expect((await succeed(server, 'proposals.create', pay('a', 1, 'k'))).ruling).toBe('committed');
});

test('a damaged ledger is 500 for its trajectory, and the others work', async () => {
  const memory = new MemoryStore();
  const first = await start({ store: memory });
  for (let n = 0; n < 3; n++) await succeed(first, 'proposals.create', pay('a', 1, `k${n}`));
  await first.stop();
  await memory.dropSnapshots?.();
  const server = await start({ store: damaged(memory) });
  for (const [id, calling] of [
    ['trajectories.state', { path: { trajectory: 'main' } }],
    ['trajectories.get', { path: { trajectory: 'main' } }],
    ['writs.list', { path: { trajectory: 'main' } }],
    ['proposals.create', pay('a', 1, 'k9')],
    ['entries.diff', { query: { from: 'main@0', to: 'main@3' } }],
  ] as const) {
    const { headers, ...rest } = await callOperation(server, id, calling);
    expect(
      problemFaults({ ...rest, type: headers.get('content-type') ?? '' }, 500, 'invalid_ledger'),
      `${id} ${rest.text}`,
    ).toEqual([]);
  }
  const entry = await succeed(server, 'entries.get', { path: { entry: 'main@2' } });
  expect(entry.fault).toMatchObject({ code: 'tampered' });
  expect((await succeed(server, 'log.verify', { body: {} })).valid).toBe(false);
  expect(
    (await succeed(server, 'trajectories.list', { as: 'boss:ada' })).trajectories,
  ).toHaveLength(4);
  expect((await succeed(server, 'trajectories.state', { path: { trajectory: 'spare' } })).seq).toBe(
    0,
  );
});
