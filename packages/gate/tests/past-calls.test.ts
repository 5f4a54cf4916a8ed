/** Calls of a past day, whose rows the state has dropped: in this process, and at a server. */

import type { Domain } from 'assize/internal/kernel';
import { describe, expect, test } from 'vitest';
import { connectGate, Gate, type PendingEnd } from '#calls';
import { desk } from '../../../tests/support/domains/gateway/desk.ts';
import { HandClock, writFor } from '../../../tests/support/ledger/runtime.ts';
import { succeed } from '../../../tests/support/server/calling.ts';
import { start } from '../../../tests/support/server/serving.ts';
import { LocalPort } from '../src/calls/local-port.ts';
import { LocalWorld } from '../src/calls/local-world.ts';
import { type GatewayState, gateway, readRules } from '../src/gateway/index.ts';

const RULES = `
id: shop
tools:
  shop/pay: { class: irreversible }
rules:
  - { id: small, allow: shop/pay, where: [{ path: /cents, max: 100 }] }
  - { id: large, ask: shop/pay, where: [{ path: /cents, min: 101 }] }
`;
const DAY_MS = 86_400_000;
const SMALL = { run: 'r1', id: 'small', tool: 'pay', args: { cents: 5 } };
const LARGE = { run: 'r1', id: 'large', tool: 'pay', args: { cents: 500 } };

interface Days {
  readonly gate: Gate;
  approve(end: PendingEnd): Promise<void>;
  settle(call: string, outcome: 'done' | 'failed'): Promise<void>;
  pass(days: number): void;
  /** Drops every row, as no rule counts one any more. Returns a gate of that day. */
  tidied(): Promise<Gate>;
}

async function here(): Promise<Days> {
  const { trajectory, store, clock, act, state } = await desk(RULES);
  const parts = {
    store,
    clock,
    trajectory: trajectory as never,
    principal: 'agent:ada',
    writ: writFor('agent:ada'),
  };
  const gate = new Gate(new LocalPort(new LocalWorld(parts), async () => {}), {
    server: 'shop',
    inFlightMs: 0,
  });
  return {
    gate,
    approve: async ({ approval }) => {
      await trajectory.approvals.approve(approval, { principal: 'human:grace', method: 'test' });
    },
    settle: async (call, outcome) => {
      expect((await act('report', { call, outcome, result: { evidence: 'seen' } })).ruling).toBe(
        'committed',
      );
    },
    pass: (days) => clock.forward(days * DAY_MS),
    tidied: async () => {
      expect((await act('tidy', {})).ruling).toBe('committed');
      expect(state().calls).toEqual({});
      return gate;
    },
  };
}

async function atServer(): Promise<Days> {
  const { rules } = readRules(RULES);
  const clock = new HandClock();
  const grants = [{ trajectories: ['calls'], actions: ['call', 'begin', 'report', 'session'] }];
  const server = await start({
    clock,
    config: { worlds: { calls: { domain: 'gateway' } }, tools: [] },
    principals: {
      'agent:ada': { kinds: ['agent'], grants },
      'manager:grace': { kinds: ['counselor'] },
    } as never,
    domains: [gateway({ rules }) as unknown as Domain],
    rules,
  });
  const people = async () => ({ 'manager:grace': await server.tokenFor('manager:grace') });
  const connected = async (): Promise<Gate> => {
    const token = await server.tokenFor('agent:ada');
    return connectGate({
      url: server.url,
      token,
      people: await people(),
      server: 'shop',
      inFlightMs: 0,
    });
  };
  const first = await connected();
  return {
    gate: first,
    approve: async ({ approval }) => {
      const gate = await connected();
      const { digest } = (await gate.port.shown(approval))!;
      await gate.port.decide(approval, {
        decision: 'approve',
        by: 'manager:grace',
        method: 'test',
        digest,
      });
    },
    settle: async (call, outcome) => {
      const token = await server.tokenFor('manager:grace');
      const asking = {
        token,
        path: { trajectory: 'calls', call },
        body: { outcome, evidence: 'seen' },
      };
      expect((await succeed(server, 'calls.settle', asking)).ruling.ruling).toBe('committed');
    },
    pass: (days) => clock.forward(days * DAY_MS),
    tidied: async () => {
      await server.service.gateways.tidyAll(new AbortController().signal);
      const trajectory = await server.service.assize.open('calls');
      expect((trajectory.state() as GatewayState).calls).toEqual({});
      return connected();
    },
  };
}

const late = () => Promise.reject(new DOMException('late', 'TimeoutError'));
const never = () => expect.unreachable('the call was made');

describe.each([
  ['in this process', here],
  ['at a server', atServer],
])('%s', (_, place) => {
  test('an approval that was not used in its day has lapsed', async () => {
    const days = await place();
    expect((await days.gate.run(SMALL, async () => 1)).end).toBe('done');
    await days.approve((await days.gate.run(LARGE, never)) as PendingEnd);
    days.pass(2);
    const gate = await days.tidied();
    const lapsed = {
      end: 'refused',
      call: 'r1.large',
      reason: expect.stringContaining('has lapsed'),
    };
    expect(await gate.run(LARGE, never)).toMatchObject(lapsed);
    expect(await gate.judge(LARGE)).toMatchObject(lapsed);
    expect(await gate.run(SMALL, never)).toMatchObject({
      end: 'done',
      result: 1,
      isRecorded: true,
    });
    const anew = { ...LARGE, id: 'anew' };
    await days.approve((await gate.run(anew, never)) as PendingEnd);
    expect(await gate.run(anew, async () => 2)).toMatchObject({
      end: 'done',
      result: 2,
      isRecorded: false,
    });
  });

  test('a call that was judged ahead and not made has lapsed after its day', async () => {
    const days = await place();
    expect((await days.gate.judge(SMALL)).end).toBe('ready');
    days.pass(2);
    const gate = await days.tidied();
    expect(await gate.run(SMALL, never)).toMatchObject({
      end: 'refused',
      reason: expect.stringContaining('has lapsed'),
    });
  });

  test('the outcome that a person has settled is known for ever', async () => {
    const days = await place();
    const { gate } = days;
    expect((await gate.run(SMALL, late)).end).toBe('doubt');
    await days.approve((await gate.run(LARGE, never)) as PendingEnd);
    expect((await gate.run(LARGE, late)).end).toBe('doubt');
    const failed = { ...SMALL, id: 'other' };
    expect((await gate.run(failed, late)).end).toBe('doubt');
    await days.settle('r1.small', 'done');
    await days.settle('r1.other', 'failed');
    days.pass(2);
    await days.settle('r1.large', 'done');
    days.pass(40);
    const next = await days.tidied();
    for (const call of [SMALL, LARGE])
      expect(await next.run(call, never)).toMatchObject({ end: 'doubt', settled: 'done' });
    expect(await next.run(failed, never)).toMatchObject({ end: 'doubt', settled: 'failed' });
    expect(await next.judge(SMALL)).toEqual({ end: 'begun', call: 'r1.small' });
  });
});
