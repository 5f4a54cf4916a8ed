import { gateway } from '@assize/gate/internal/gateway';
import type { Domain } from 'assize/internal/kernel';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { jsonValue } from '../../../../../tests/json-values.ts';
import { callOperation, pay, succeed } from '../../../../../tests/support/server/calling.ts';
import { start } from '../../../../../tests/support/server/serving.ts';
import { OPERATIONS } from '../../index.ts';
import { countNames } from './body.ts';
import { chargeOf } from './rate-limiter.ts';

const NAMES = 4_096;

/** An object with so many members. */
const named = (names: number) =>
  Object.fromEntries(Array.from({ length: names }, (_, i) => [`a${i}`, 1]));

/** The operations to which an agent hands something in. */
const HANDED = OPERATIONS.filter(
  ({ kinds, body }) => kinds.includes('agent') && body !== undefined,
);

function namesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value);
  return (
    (Array.isArray(value) ? 0 : inner.length) +
    inner.reduce<number>((sum, one) => sum + namesOf(one), 0)
  );
}

test('the names of a body are counted in its bytes as in its value', () => {
  const spaced = fc.constantFrom(undefined, 1, '\t');
  fc.assert(
    fc.property(jsonValue, spaced, (value, space) => {
      expect(countNames(Buffer.from(JSON.stringify(value, undefined, space)))).toBe(namesOf(value));
    }),
    { numRuns: 2_000 },
  );
  for (const broken of ['{"a', '{"a\\', '"', '{"a":"\\', ':::'])
    expect(countNames(Buffer.from(broken))).toBeLessThan(4);
});

test('every operation of an agent refuses too many names and bytes', async () => {
  const server = await start();
  const parse = vi.spyOn(JSON, 'parse');
  const before = await server.contents();
  for (const one of HANDED) {
    const as = 'agent:scout';
    const refused = async (body: unknown, text: string) => {
      parse.mockClear();
      const { status, body: problem } = await callOperation(server, one.id, { as, body, key: 'k' });
      expect([status, problem.code], one.id).toEqual([413, 'too_large']);
      expect(problem.detail).toContain(text);
      // The text of the request is not parsed: only this answer is.
      expect(parse.mock.calls.filter(([given]) => String(given).length > 60_000)).toEqual([]);
    };
    await refused({ args: named(Math.max(NAMES, one.bodyNames ?? 0) + 1) }, 'server.limits');
    if (one.bodyBytes === undefined)
      await refused({ args: { text: 'x'.repeat(65_536) } }, 'more than 65536 bytes');
  }
  expect(await server.contents()).toEqual(before);
  expect(HANDED.length).toBeGreaterThan(14);
});

describe('proposals near the limit', () => {
  const args = (text: string) => ({ amount: 1, text });

  test('one of many that is too large is refused with its place', async () => {
    const server = await start();
    const one = (size: number, key: string) => ({
      ...(pay('a', 1, key).body as object),
      args: args('x'.repeat(size)),
      key,
    });
    const path = { trajectory: 'main' };
    const body = { proposals: [one(60_000, 'a'), one(66_000, 'b')] };
    const answer = await callOperation(server, 'proposals.create_many', { path, body });
    expect([answer.status, answer.body.detail]).toEqual([
      413,
      expect.stringContaining('/body/proposals/1 has more than'),
    ]);
    await succeed(server, 'proposals.create_many', {
      path,
      body: { proposals: [one(60_000, 'a'), one(60_000, 'b')] },
    });
  });

  test('the limits of a proposal are configurable, and are not for people', async () => {
    const server = await start({
      server: { limits: { proposalBytes: 2_000, names: 64, requestsPerSecond: 1_000 } },
    });
    const given = (text: string, more: object = {}) => ({
      ...pay('a', 1, `k${text.length}`),
      body: { ...(pay('a', 1, 'k').body as object), args: { ...args(text), ...more } },
    });
    expect((await callOperation(server, 'proposals.create', given('x'.repeat(1_000)))).status).toBe(
      200,
    );
    expect((await callOperation(server, 'proposals.create', given('x'.repeat(2_000)))).status).toBe(
      413,
    );
    expect((await callOperation(server, 'proposals.create', given('x', named(64)))).status).toBe(
      413,
    );
    const judged = { ...given('x'.repeat(2_000)), as: 'auditor:eve' as const };
    expect((await callOperation(server, 'proposals.judge', judged)).status).not.toBe(413);
  });
});

test('a request counts by its bytes and by its names', async () => {
  expect(chargeOf({ bytes: 32_767, names: 1_023 })).toBe(0);
  expect(chargeOf({ bytes: 65_536, names: 4_096 })).toBe(6);
  const server = await start({ server: { limits: { requestsPerSecond: 8 } } });
  const args = { amount: 1, text: 'x'.repeat(20_000), ...named(4_000) };
  const statusesOf = async (body: object) => {
    const calling = { as: 'agent:scout', path: { trajectory: 'main' }, body } as const;
    const all = await Promise.all(
      Array.from({ length: 20 }, () => callOperation(server, 'proposals.judge', calling)),
    );
    return new Set(all.map(({ status }) => status));
  };
  const small = pay('a', 1, 'k').body as object;
  // Of 32 saved requests each small body takes one, and each large body takes five.
  expect(await statusesOf(small)).toEqual(new Set([200]));
  expect(await statusesOf({ ...small, args })).toContain(429);
});

describe.each(['/mcp', '/mcp/notes'])('a message to %s', (path) => {
  async function serving(limits: object) {
    const notes = { command: process.execPath };
    const server = await start({
      config: { tools: [], worlds: { calls: { domain: 'gateway' } }, mcp: { servers: { notes } } },
      domains: [gateway({}) as unknown as Domain],
      principals: { 'agent:ada': { kinds: ['agent'] } } as never,
      server: { limits },
    });
    const token = await server.tokenFor('agent:ada');
    // A message with a name twice is counted, and reaches no server.
    return (params: object) => {
      const raw = `{"id":1,"id":1,"params":${JSON.stringify(params)}}`;
      return server.ask('POST', path, {
        token,
        raw,
        headers: { 'content-type': 'application/json' },
      });
    };
  }

  test('of too many names or bytes is refused before it is parsed', async () => {
    const send = await serving({});
    const parse = vi.spyOn(JSON, 'parse');
    for (const [params, text] of [
      [named(NAMES), 'names of members'],
      [{ text: 'x'.repeat(65_536) }, 'more than 65536 bytes'],
    ] as const) {
      parse.mockClear();
      const { status, body } = await send(params);
      expect([status, body.code]).toEqual([413, 'too_large']);
      expect(body.detail).toContain(text);
      expect(parse.mock.calls.filter(([given]) => String(given).length > 30_000)).toEqual([]);
    }
  });

  test('counts as a request, and by its size', async () => {
    const send = await serving({ requestsPerSecond: 8 });
    const codesOf = async (times: number, params: object) => {
      const all = await Promise.all(Array.from({ length: times }, () => send(params)));
      return new Set(all.map(({ body }) => body?.code));
    };
    // Of 32 saved requests each small message takes one, and each large message takes five.
    expect(await codesOf(10, {})).toEqual(new Set(['bad_input']));
    expect(await codesOf(20, { text: 'x'.repeat(20_000), ...named(4_000) })).toContain('too_fast');
    expect(await codesOf(60, {})).toContain('too_fast');
  });
});

test('the holders of parts of a grant share the limits of their agent', async () => {
  const server = await start({ server: { limits: { concurrency: 1 } } });
  const [path, terms] = [{ trajectory: 'main' }, { actions: ['pay'], scopes: ['role:clerk:a'] }];
  const sub = await succeed(server, 'writs.attenuate', {
    path,
    body: { ...terms, subject: 'agent:scout/sub', seconds: 600 },
  });
  const child = {
    ...terms,
    subject: 'agent:scout/far',
    task: 'count',
    child_trajectory_id: 'child',
  };
  const far = await succeed(server, 'delegations.create', { path, body: child });
  const waiting = callOperation(
    server,
    'proposals.create',
    pay('a', 500, 'k', { headers: { prefer: 'wait=60' } }),
  );
  const pendings = async () =>
    (await succeed(server, 'approvals.list', { as: 'boss:ada' })).approvals;
  await vi.waitFor(async () => expect(await pendings()).toHaveLength(1), { timeout: 60_000 });
  for (const { token } of [sub, far])
    expect((await callOperation(server, 'principals.me', { token })).body).toMatchObject({
      code: 'too_fast',
    });
  expect((await callOperation(server, 'principals.me', { as: 'agent:other' })).status).toBe(200);
  const [{ id }] = await pendings();
  await succeed(server, 'approvals.reject', {
    as: 'boss:ada',
    path: { approval: id },
    body: { reason: 'no' },
  });
  expect((await waiting).body).toMatchObject({ ruling: 'rejected' });
  for (const { token } of [sub, far])
    expect((await callOperation(server, 'principals.me', { token })).status).toBe(200);
});
