/** Every operation of the API, with every refusal that its place in the table implies. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { headOf } from '../../../../tests/support/server/raw-http.ts';
import {
  faultsOf,
  pathOf,
  principalOf,
  problemFaults,
  type Refusal,
  refusalsOf,
} from '../../../../tests/support/server/refusals.ts';
import {
  type Answered,
  start,
  stopAll,
  type TestServer,
} from '../../../../tests/support/server/serving.ts';
import { OPERATIONS, type Operation } from '../../src/index.ts';

let server: TestServer;

beforeAll(async () => {
  server = await start({ stopsAlone: true });
});

afterAll(stopAll);

test.for(OPERATIONS)('$id: every refusal has its problem and appends nothing', async (one) => {
  expect(await faultsByName(server, refusalsOf(one))).toEqual({});
});

/** Writes of an operation, each of another kind. */
const WRITES: readonly (readonly [
  name: string,
  write: (server: TestServer, n: number) => Promise<unknown>,
])[] = [
  [
    'an entry',
    async ({ service: { assize } }, n) =>
      assize.branch('main', (await assize.open('main')).head, { note: `planted ${n}` }),
  ],
  ...['notice/failed', 'a-new-kind'].map(
    (kind) =>
      [
        `a row ${kind}`,
        ({ service: { store } }: TestServer, n: number) =>
          store.sidePut([{ kind, key: `planted ${n}`, expected: null, body: '{}' }]),
      ] as const,
  ),
];

test.each(WRITES)(
  'the matrix finds an operation that writes %s before its checks',
  async (_, write) => {
    let planted = 0;
    const ask: TestServer['ask'] = async (...request) => {
      planted += 1;
      await write(server, planted);
      return server.ask(...request);
    };
    const [one] = OPERATIONS.filter(({ id }) => id === 'proposals.create');
    const found = await faultsByName({ ...server, ask }, refusalsOf(one as Operation));
    const appended = Object.values(found).filter((faults) =>
      faults.includes('the store has changed'),
    );
    expect(appended).toHaveLength(planted);
    expect(planted).toBeGreaterThan(30);
  },
);

test('the matrix finds a refusal without its problem document', () => {
  const answer = {
    status: 500,
    text: 'Error: x\n    at run (/a/b.ts:1:2)',
    body: undefined,
    type: 'text/plain',
  };
  expect(problemFaults(answer, 400, 'invalid_request')).toEqual(
    expect.arrayContaining([
      expect.stringContaining('500'),
      'content type text/plain',
      'no detail',
      'a stack',
    ]),
  );
});

const withPath = OPERATIONS.filter(({ params }) => params !== undefined);

test.for(withPath)('$id: a name that nothing has is not found', async (one) => {
  const before = await server.contents();
  for (const name of Object.keys(one.params?.shape ?? {})) {
    const token = server.tokens[principalOf(one)];
    if (name === 'space') continue;
    const path = `${pathOf(one, { [name]: nothingOf(name) })}${QUERIES[one.id] ?? ''}`;
    const answer = await server.ask(one.method.toUpperCase(), path, {
      token,
      key: 'none',
      ...(one.body !== undefined && { body: SMALLEST[one.id] ?? {} }),
    });
    expect(
      problemFaults(typed(answer), 404, answer.body?.code),
      `${one.id} ${name} ${answer.text}`,
    ).toEqual([]);
    expect(answer.body.code).toBe('not_found');
  }
  expect(await server.contents()).toEqual(before);
});

const withKey = OPERATIONS.filter(({ needsKey }) => needsKey === true);

test.for(withKey)('$id: without an idempotency key it is refused', async (one) => {
  const before = await server.contents();
  const token = server.tokens[principalOf(one)];
  const answer = await server.ask('POST', pathOf(one), { token, body: SMALLEST[one.id] });
  expect(problemFaults(typed(answer), 400, 'invalid_request')).toEqual([]);
  expect(answer.body.detail).toContain('Idempotency-Key');
  expect(await server.contents()).toEqual(before);
});

test('every operation: too fast is 429 with the time to wait', async () => {
  const slow = await start({ server: { limits: { requestsPerSecond: 1 } } });
  for (const one of OPERATIONS) {
    const token = slow.tokens[principalOf(one)];
    while ((await slow.ask('GET', '/v1/me', { token })).status === 200);
    const before = await slow.contents();
    // The bucket may have gained a request in between.
    let answer: Answered;
    do answer = await slow.ask(one.method.toUpperCase(), pathOf(one), { token });
    while (answer.status !== 429);
    expect(problemFaults(typed(answer), 429, 'too_fast'), one.id).toEqual([]);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await slow.contents()).toEqual(before);
  }
});

test('every operation: a server that stops answers 503 stopping', async () => {
  const stopping = await start();
  const before = await stopping.contents();
  // A connection with a part of a request stays open while the server stops.
  const begun = await Promise.all(
    OPERATIONS.map(async (one) => {
      const socket = connect(stopping.port, '127.0.0.1');
      await once(socket, 'connect');
      socket.write(
        headOf(one.method.toUpperCase(), pathOf(one), [
          `Host: 127.0.0.1:${stopping.port}`,
          `Authorization: Bearer ${stopping.tokens[principalOf(one)]}`,
          'Connection: close',
        ]),
      );
      return { one, socket };
    }),
  );
  // The server must have read the parts, or it closes the connections as idle.
  await stopping.ask('GET', '/healthz');
  const stopped = stopping.stop();
  for (const { one, socket } of begun) {
    const answer = await rest(socket, '\r\n');
    expect(answer, one.id).toMatch(/^HTTP\/1\.1 503 [^\r]*\r\n[\s\S]*"code":"stopping"/);
    expect(answer, one.id).toMatch(/^retry-after: 1\r$/im);
  }
  await stopped;
  expect(await stopping.contents()).toEqual(before);
});

test('no route that is not an operation changes anything for a GET', async () => {
  const before = await server.contents();
  for (const path of [
    '/',
    '/sign-in',
    '/healthz',
    '/readyz',
    '/metrics',
    '/openapi.json',
    '/v1/session',
    '/v1/none',
  ])
    for (const method of ['GET', 'HEAD', 'OPTIONS'])
      await server.ask(method, path, { token: server.tokens['admin:ann'] });
  expect(await server.contents()).toEqual(before);
});

test('a method or a path that no operation has is unknown_operation', async () => {
  const token = server.tokens['admin:ann'];
  for (const [method, path] of [
    ['PUT', '/v1/trajectories'],
    ['PATCH', '/v1/trajectories/main'],
    ['GET', '/v2/trajectories'],
    ['POST', '/v1/trajectories/main/state'],
    ['GET', '/v1/trajectories/main/state/'],
    ['GET', '//v1/trajectories'],
    ['GET', '/v1/%2e%2e/metrics2'],
  ] as const)
    expect(
      problemFaults(typed(await server.ask(method, path, { token })), 404, 'unknown_operation'),
      path,
    ).toEqual([]);
});

/** Bodies that the schemas accept, for refusals that come after the form. */
const QUERIES: Readonly<Record<string, string>> = {
  'trajectories.slice': '?role=clerk',
  'servers.get': '?agent=ada',
};
const STANDING = {
  agent: 'scout',
  tools: ['shop/pay'],
  uses: 1,
  amounts: {},
  expires: '9999-01-01T00:00:00Z',
  because: 'a',
};

const SMALLEST: Readonly<Record<string, unknown>> = {
  'chat.remember': { messages: [{ role: 'user', content: 'a' }] },
  'chat.alias': { alias: 'a', name: 'b' },
  'chat.repair': { space: 'front', fact: 'f'.repeat(64) },
  'hooks.claude_code': { hook_event_name: 'Stop' },
  'hooks.codex': { hook_event_name: 'Stop' },
  'proposals.create': { action: 'pay', role: 'clerk', args: {} },
  'proposals.create_many': { proposals: [{ key: 'k', action: 'pay', role: 'clerk', args: {} }] },
  'proposals.judge': { action: 'pay', role: 'clerk', args: {} },
  'approvals.approve': { digest: '0'.repeat(64) },
  'approvals.reject': { reason: 'no' },
  'agents.stop': { reason: 'no' },
  'agents.pause': { reason: 'no' },
  'agents.resume': { reason: 'no' },
  'branches.create': { at: 'main@0', note: 'a branch' },
  'delegations.create': {
    task: 'work',
    child_trajectory_id: 'child',
    subject: 'agent:scout/sub',
    actions: ['pay'],
  },
  'delegations.conclude': {},
  'writs.attenuate': { subject: 'agent:scout/sub', actions: ['pay'], seconds: 60 },
  'writs.revoke': { reason: 'left' },
  'calls.ask': { id: 'c1', server: 'shop', tool: 'pay', args: {} },
  'calls.end_session': {},
  'calls.fail_session': {},
  'calls.report': { outcome: 'done' },
  'calls.settle': { outcome: 'done', evidence: 'seen' },
  'standing.judge': STANDING,
  'standing.ask': STANDING,
  'effects.resolve': { as: 'applied', evidence: 'seen' },
  'memory.state': { verb: 'assert', subject: 'ada', predicate: 'phone', object: '1' },
  'memory.recall': {},
  'incidents.blast': { writ: '9'.repeat(64) },
  'incidents.propose': { writ: '9'.repeat(64), because: 'it leaked' },
  'simulations.run': { simulation: 'none' },
  'trajectories.halt': { reason: 'stop' },
  'trajectories.resume': { reason: 'go on' },
  'trajectories.upgrade': { reason: 'newer' },
};

function nothingOf(name: string): string {
  if (name === 'epoch' || name === 'n') return '987654';
  if (name === 'token') return '9'.repeat(16);
  return name === 'trajectory' || name === 'domain' ? 'nothing' : '9'.repeat(64);
}

async function faultsByName(
  asked: TestServer,
  refusals: readonly Refusal[],
): Promise<Record<string, string[]>> {
  const faults: Record<string, string[]> = {};
  for (const refusal of refusals) {
    const found = await faultsOf(asked, refusal);
    if (found.length > 0) faults[refusal.name] = found;
  }
  return faults;
}

function typed({ status, text, body, headers }: Answered) {
  return { status, text, body, type: headers.get('content-type') ?? '' };
}

async function rest(socket: Socket, end: string): Promise<string> {
  let said = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const closed = once(socket, 'close');
  socket.write(end);
  await closed;
  return said;
}
