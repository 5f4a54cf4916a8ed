import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { HandClock } from '../../../../tests/support/ledger/runtime.ts';
import {
  AGENT,
  proposeAt,
  serveDesk,
  tokenOf,
} from '../../../../tests/support/ledger/served-desk.ts';
import type { Serving } from '../serve.ts';

// Two servers of one store. Each has its own clock, and the writs of an agent last a second.

const store = new MemoryStore();
const clocks = [new HandClock(), new HandClock()] as const;
const servers: Serving[] = [];
let token = '';

beforeAll(async () => {
  clocks[1].forward(SKEW_MS);
  for (const clock of clocks) servers.push(await serveDesk(store, { clock, writSeconds: 1 }));
  token = await tokenOf(servers[0]!, AGENT);
});
afterAll(async () => {
  for (const server of servers) await server.stop();
});

/** An order of each ruling. A repetition must return the ruling. */
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

test('a repetition in a later period, at any server, gets the first ruling', async () => {
  const attempt = fc.record({
    server: fc.nat(1),
    ms: fc.integer({ min: 0, max: 1_500 }),
    atOnce: fc.boolean(),
  });
  const ruling = fc.constantFrom('committed' as const, 'rejected' as const);
  await fc.assert(
    fc.asyncProperty(
      ruling,
      fc.array(attempt, { minLength: 2, maxLength: 5 }),
      async (wanted, attempts) => {
        const key = `key-${++keys}`;
        const [action, args] = ORDERS[wanted];
        const asked: Promise<any>[] = [];
        for (const { server, ms, atOnce } of attempts) {
          forward(ms);
          asked.push(proposeAt(servers[server]!, token, { key, action, args }));
          if (!atOnce) await asked.at(-1);
        }
        const answers = await Promise.all(asked);
        const [{ entry_id }] = answers;
        for (const answer of answers) expect(answer).toMatchObject({ ruling: wanted, entry_id });
      },
    ),
    { numRuns: cases(200) },
  );
});

test('one key of another proposal is refused in a later period too', async () => {
  await proposeAt(servers[0]!, token, { key: 'once', action: 'keep', args: { value: 1 } });
  forward(5_000);
  const other = await proposeAt(servers[1]!, token, {
    key: 'once',
    action: 'keep',
    args: { value: 2 },
  });
  expect(other).toMatchObject({ status: 409, code: 'idempotency_conflict' });
});

test('a proposal can be approved long after the period of its writ', async () => {
  const asked = await proposeAt(servers[0]!, token, {
    key: 'asks',
    action: 'ask',
    args: { amount: 5 },
  });
  expect(asked).toMatchObject({ ruling: 'escalated' });
  forward(24 * 60 * 60 * 1_000);
  const trajectory = await servers[1]!.service.assize.open('desk');
  const ruling = await trajectory.approvals.approve(asked.approval_id, {
    principal: 'dr-grace',
    method: 'test',
  });
  expect(ruling.ruling).toBe('committed');
});
