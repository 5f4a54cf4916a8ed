import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '#config';
import { MemoryStore } from '#stores';
import { cases } from '../../../tests/support/cases.ts';
import { desk } from '../../../tests/support/ledger/desk.ts';
import { HandClock, operator } from '../../../tests/support/ledger/runtime.ts';
import { type Serving, serve } from '../serve.ts';

// Two servers of one store. Each has its own clock, and the writs of an agent last a second.

const store = new MemoryStore();
const clocks = [new HandClock(), new HandClock()] as const;
const servers: Serving[] = [];
let token = '';

beforeAll(async () => {
  clocks[1].forward(SKEW_MS);
  for (const clock of clocks) servers.push(await served(clock));
  const terms = { principal: 'agent:a', kinds: ['agent'] as const, created: clocks[0].now() };
  ({ token } = await servers[0]!.service.tokens.create({ ...terms, expires: '2100-01-01T00:00:00.000000Z' }));
});
afterAll(async () => {
  for (const server of servers) await server.stop();
});

async function served(clock: HandClock): Promise<Serving> {
  const defaults = await loadConfig({ from: '/', store: 'memory:', env: {} });
  const grant = { trajectories: ['*'], actions: ['**'], scopes: ['**'], budget: {}, requireApproval: [], maxDepth: 0 };
  const limits = { requestsPerSecond: 1e6, concurrency: 1e6, streams: 10, bodyBytes: 1e6 };
  return serve({
    config: {
      ...defaults,
      worlds: { desk: { domain: 'desk' } },
      principals: new Map([['agent:a', { name: 'agent:a', kinds: ['agent'], grants: [grant], email: undefined }]]),
      server: { ...defaults.server, port: 0, writSeconds: 1, limits },
    },
    ...{ store, clock, domains: [desk], root: { ...operator, origin: 'ephemeral', created: false } },
    policyOf: () => expect.unreachable(),
    log: () => undefined,
  });
}

async function propose(server: Serving, key: string, action: string, args: object): Promise<any> {
  const response = await fetch(`${server.url}/v1/trajectories/desk/proposals`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({ action, role: 'worker', args }),
  });
  return response.json();
}

/** An order of each ruling, which a repetition must return. */
const ORDERS = {
  committed: ['keep', { value: 1 }],
  rejected: ['add', { by: 1_000 }],
} as const;

let keys = 0;

/** The clocks of two hosts differ, so at a boundary their servers issue different writs. */
const SKEW_MS = 700;

function forward(ms: number): void {
  for (const clock of clocks) clock.forward(ms);
}

test('a repetition under another short writ, at any server, gets the first ruling', async () => {
  const attempt = fc.record({ server: fc.nat(1), ms: fc.integer({ min: 0, max: 1_500 }), atOnce: fc.boolean() });
  const ruling = fc.constantFrom('committed' as const, 'rejected' as const);
  await fc.assert(
    fc.asyncProperty(ruling, fc.array(attempt, { minLength: 2, maxLength: 5 }), async (wanted, attempts) => {
      const key = `key-${++keys}`;
      const [action, args] = ORDERS[wanted];
      const asked: Promise<any>[] = [];
      for (const { server, ms, atOnce } of attempts) {
        forward(ms);
        asked.push(propose(servers[server]!, key, action, args));
        if (!atOnce) await asked.at(-1);
      }
      const answers = await Promise.all(asked);
      const [{ entry_id }] = answers;
      for (const answer of answers) expect(answer).toMatchObject({ ruling: wanted, entry_id });
    }),
    { numRuns: cases(200) },
  );
});

test('one key of another proposal is refused in a later period too', async () => {
  await propose(servers[0]!, 'once', 'keep', { value: 1 });
  forward(5_000);
  const other = await propose(servers[1]!, 'once', 'keep', { value: 2 });
  expect(other).toMatchObject({ status: 409, code: 'idempotency_conflict' });
});
