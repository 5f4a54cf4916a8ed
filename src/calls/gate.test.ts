/** Calls of a framework that are asked about, made once, and recorded: here, and at a server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { gateway, readRules } from '#domains/gateway';
import type { Domain } from '#kernel';
import { start } from '../../tests/support/server/serving.ts';
import { type CallEnd, connectGate, type Gate, type GateCall, openGate } from './index.ts';

const RULES = `
id: shop
tools:
  shop/look: { class: read }
  shop/pay: { class: irreversible }
rules:
  - { id: look, allow: shop/look }
  - { id: small, allow: shop/pay, where: [{ path: /cents, max: 100 }] }
  - { id: large, ask: shop/pay, where: [{ path: /cents, min: 101 }] }
  - { id: never, deny: shop/pay, where: [{ path: /to, is: mallory }] }
`;

interface Shop {
  gate: Gate;
  /** The calls that reached the shop. */
  readonly made: unknown[];
  run(call: Partial<GateCall> & { args: GateCall['args'] }): Promise<CallEnd<{ receipt: number }>>;
  /** Another gate over the same calls, as another process has it. */
  other(): Promise<Gate>;
}

type Place = (open: (gate: Gate) => Gate) => Promise<() => Promise<Gate>>;

const here: Place = async (open) => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-gate-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const rules = join(folder, 'assize.yaml');
  writeFileSync(rules, RULES);
  const store = `sqlite:${join(folder, 'calls.db')}`;
  return async () => open(await openGate({ store, rules, agent: 'ada', server: 'shop', inFlightMs: 50, env: {} }));
};

const atServer: Place = async (open) => {
  const { rules } = readRules(RULES);
  const grants = [{ trajectories: ['calls'], actions: ['call', 'begin', 'report', 'session'] }];
  const server = await start({
    config: { worlds: { calls: { domain: 'gateway' } }, tools: [] },
    principals: { 'agent:ada': { kinds: ['agent'], grants }, 'manager:grace': { kinds: ['counselor'] } } as never,
    domains: [gateway({ rules }) as unknown as Domain],
    rules,
  });
  const token = await server.tokenFor('agent:ada');
  const people = { 'manager:grace': await server.tokenFor('manager:grace') };
  return async () => open(connectGate({ url: server.url, token, people, server: 'shop', inFlightMs: 50 }));
};

async function shopAt(place: Place, fail?: () => Error | undefined): Promise<Shop> {
  const gates: Gate[] = [];
  onTestFinished(async () => {
    for (const gate of gates) await gate.port.close();
  });
  const other = await place((gate) => {
    gates.push(gate);
    return gate;
  });
  const made: unknown[] = [];
  const it: Shop = {
    gate: await other(),
    made,
    run: ({ args, ...more }) =>
      it.gate.run({ run: 'r1', id: 'c1', tool: 'pay', args, ...more }, async () => {
        made.push(args);
        const error = fail?.();
        if (error !== undefined) throw error;
        return { receipt: made.length };
      }),
    other,
  };
  return it;
}

async function decide({ gate }: Shop, end: CallEnd<unknown>, decision: 'approve' | 'reject'): Promise<void> {
  if (end.end !== 'pending') throw new Error(`the call is ${end.end}`);
  const { digest } = (await gate.port.shown(end.approval))!;
  await gate.port.decide(end.approval, { decision, by: 'manager:grace', method: 'test', digest });
}

describe.each([
  ['in this process', here],
  ['at a server', atServer],
] as const)('a gate %s', (_, place) => {
  test('an allowed call is made once, and a repetition gets its result', async () => {
    const it = await shopAt(place);
    const args = { to: 'bob', cents: 5 };
    expect(await it.run({ args })).toMatchObject({ end: 'done', result: { receipt: 1 }, isRecorded: false });
    expect(await it.run({ args })).toMatchObject({ end: 'done', result: { receipt: 1 }, isRecorded: true });
    it.gate = await it.other();
    expect(await it.run({ args })).toMatchObject({ end: 'done', result: { receipt: 1 }, isRecorded: true });
    expect(it.made).toEqual([args]);
    expect(await it.run({ id: 'c2', args })).toMatchObject({ end: 'done', result: { receipt: 2 } });
    expect(await it.run({ run: 'r2', args })).toMatchObject({ end: 'done', result: { receipt: 3 } });
  });

  test('a call under the id of another one is refused', async () => {
    const it = await shopAt(place);
    await it.run({ args: { to: 'bob', cents: 5 } });
    expect(await it.run({ args: { to: 'bob', cents: 6 } })).toMatchObject({ end: 'refused' });
    const held = { id: 'c2', args: { to: 'bob', cents: 500 } };
    const asked = await it.run(held);
    expect(await it.run({ ...held, args: { to: 'eve', cents: 500 } })).toMatchObject({ end: 'refused' });
    await decide(it, asked, 'approve');
    expect(await it.run({ ...held, args: { to: 'eve', cents: 500 } })).toMatchObject({ end: 'refused' });
    expect(await it.run(held)).toMatchObject({ end: 'done' });
    expect(it.made).toEqual([{ to: 'bob', cents: 5 }, held.args]);
  });

  test('a denied call is not made, and an approved one is made once', async () => {
    const it = await shopAt(place);
    expect(await it.run({ id: 'm', args: { to: 'mallory', cents: 5 } })).toMatchObject({ end: 'refused' });
    const held = { id: 'c2', args: { to: 'bob', cents: 500 } };
    const asked = await it.run(held);
    expect(asked).toMatchObject({ end: 'pending', reason: expect.stringContaining('large') });
    expect(await it.run(held)).toEqual(asked);
    const other = await it.run({ ...held, id: 'c3' });
    it.gate = await it.other();
    await decide(it, asked, 'approve');
    const both = await Promise.all([it.run(held), it.run(held)]);
    expect(both).toMatchObject([{ end: 'done' }, { end: 'done', isRecorded: true }]);
    expect(await it.run({ ...held, id: 'c3' })).toMatchObject({ end: 'pending' });
    await decide(it, other, 'reject');
    expect(await it.run({ ...held, id: 'c3' })).toMatchObject({ end: 'refused' });
    expect(it.made).toEqual([held.args]);
  });

  test('a call that failed is not made again, unless it is idempotent', async () => {
    let error: Error | undefined = new Error('no money');
    const it = await shopAt(place, () => error);
    const args = { to: 'bob', cents: 5 };
    expect(await it.run({ args })).toMatchObject({ end: 'failed', error, isRecorded: false });
    expect(await it.run({ args })).toMatchObject({ end: 'failed', error: { message: 'no money' }, isRecorded: true });
    error = undefined;
    const keys: string[] = [];
    const make = async ({ key }: { readonly key: string }) => {
      keys.push(key);
      return { receipt: 9 };
    };
    const call = { run: 'r1', id: 'c1', tool: 'pay', args };
    expect(await it.gate.run(call, make, { isIdempotent: true })).toMatchObject({
      end: 'done',
      result: { receipt: 9 },
    });
    expect(await it.gate.run(call, make, { isIdempotent: true })).toMatchObject({ end: 'done', isRecorded: true });
    expect(keys).toEqual(['r1.c1']);
  });

  test('an interrupted call is in doubt, and is not made again', async () => {
    const it = await shopAt(place, () => new DOMException('late', 'TimeoutError'));
    const args = { to: 'bob', cents: 5 };
    expect(await it.run({ args })).toMatchObject({ end: 'doubt', reason: expect.stringContaining('late') });
    expect(await it.run({ args })).toMatchObject({ end: 'doubt' });
    it.gate = await it.other();
    expect(await it.run({ args })).toMatchObject({ end: 'doubt' });
    expect(it.made).toHaveLength(1);
  });

  test('of two processes, one makes the call, and the other one its result', async () => {
    const it = await shopAt(place);
    const other = await it.other();
    const call = { run: 'r1', id: 'c1', tool: 'pay', args: { to: 'bob', cents: 5 } };
    const { promise: release, resolve } = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    const make = async () => {
      it.made.push(1);
      began.resolve();
      await release;
      return { receipt: 1 };
    };
    const one = it.gate.run(call, make);
    await began.promise;
    expect(await other.run(call, make)).toMatchObject({ end: 'doubt' });
    const again = it.gate.run(call, make);
    resolve();
    expect(await again).toMatchObject({ end: 'done', result: { receipt: 1 }, isRecorded: true });
    expect(await one).toMatchObject({ end: 'done', isRecorded: false });
    expect(await other.run(call, make)).toMatchObject({ end: 'done', result: { receipt: 1 }, isRecorded: true });
    expect(it.made).toEqual([1]);
  });

  test('a result that is too large to keep is returned once', async () => {
    const it = await shopAt(place);
    const call = { run: 'r1', id: 'c1', tool: 'look', args: {} };
    const make = async () => 'x'.repeat(4_200_000);
    expect(await it.gate.run(call, make)).toMatchObject({ end: 'done', isRecorded: false });
    expect(await it.gate.run(call, make)).toMatchObject({ end: 'doubt', reason: expect.stringContaining('too large') });
  });
});
