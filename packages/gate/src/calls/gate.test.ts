/** Calls of a framework that are asked about, made once, and recorded: here, and at a server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AssizeWorld, createAssize } from 'assize/internal/config';
import type { Domain } from 'assize/internal/kernel';
import { type EntryRow, readRow } from 'assize/internal/ledger';
import { describe, expect, onTestFinished, test } from 'vitest';
import { gateway, readRules } from '#gateway';
import { succeed } from '../../../../tests/support/server/calling.ts';
import { start } from '../../../../tests/support/server/serving.ts';
import {
  type CallEnd,
  connectGate,
  type Gate,
  type GateCall,
  openGate,
  type PendingEnd,
} from './index.ts';

const RULES = `
id: shop
tools:
  shop/look: { class: read }
  shop/pay: { class: irreversible, amounts: { cents: /cents } }
rules:
  - { id: look, allow: shop/look }
  - { id: small, allow: shop/pay, where: [{ path: /cents, max: 100 }] }
  - { id: large, ask: shop/pay, where: [{ path: /cents, min: 101 }] }
  - { id: never, deny: shop/pay, where: [{ path: /to, is: mallory }] }
limits:
  - { id: day, tools: shop/pay, per: day, unit: cents, max: 10000 }
`;

interface Shop {
  gate: Gate;
  /** The calls that reached the shop. */
  readonly made: unknown[];
  run(call: Partial<GateCall> & { args: GateCall['args'] }): Promise<CallEnd<{ receipt: number }>>;
  /** Another gate over the same calls, as another process has it. */
  other(): Promise<Gate>;
  /** Records the finding of a person about a call. */
  settle(call: string, outcome: 'done' | 'failed'): Promise<void>;
  /** Approves a pending call with other arguments. */
  amend(end: CallEnd<unknown>, args: object): Promise<void>;
  /** The observations of the newest call in the ledger. */
  observed(): Promise<unknown>;
}

interface Opened extends Pick<Shop, 'settle' | 'amend' | 'observed'> {
  readonly open: () => Promise<Gate>;
}

type Place = () => Promise<Opened>;

const CALL = { run: 'r1', id: 'c9', tool: 'pay', args: { to: 'bob', cents: 5 } };
const DECISION = {
  decision: 'approve',
  by: 'manager:grace',
  method: 'test',
  digest: 'ab',
} as const;
const made = async () => ({ receipt: 1 });

const here: Place = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-gate-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const rules = join(folder, 'assize.yaml');
  writeFileSync(rules, RULES);
  const store = `sqlite:${join(folder, 'calls.db')}`;
  const domain = gateway({ rules: readRules(RULES).rules }) as unknown as Domain;
  const inWorld = async <T>(work: (world: AssizeWorld) => Promise<T>): Promise<T> => {
    const world = await createAssize({ store, domain, name: 'calls', env: {} });
    return work(world as AssizeWorld).finally(() => world.close());
  };
  return {
    open: () => openGate({ store, rules, agent: 'ada', server: 'shop', inFlightMs: 50, env: {} }),
    settle: (call, outcome) =>
      inWorld(async (world) => {
        const result = { evidence: 'seen' };
        const ruling = await world.propose({
          action: 'report',
          role: 'admin',
          args: { call, outcome, result },
        } as never);
        expect(ruling.ruling).toBe('committed');
      }),
    amend: (end, args) =>
      inWorld(async ({ trajectory }) => {
        const { call, approval } = end as PendingEnd;
        const by = { principal: 'manager:grace', method: 'test' };
        await trajectory.approvals.approve(approval, {
          ...by,
          args: proposedCall(call, args),
        } as never);
      }),
    observed: () => inWorld(async ({ store: opened }) => observedIn(await opened.entries('calls'))),
  };
};

const atServer: Place = async () => {
  const { rules } = readRules(RULES);
  const grants = [{ trajectories: ['calls'], actions: ['call', 'begin', 'report', 'session'] }];
  const server = await start({
    config: { worlds: { calls: { domain: 'gateway' } }, tools: [] },
    principals: {
      'agent:ada': { kinds: ['agent'], grants },
      'manager:grace': { kinds: ['counselor'] },
    } as never,
    domains: [gateway({ rules }) as unknown as Domain],
    rules,
  });
  const token = await server.tokenFor('agent:ada');
  const people = { 'manager:grace': await server.tokenFor('manager:grace') };
  return {
    open: async () =>
      connectGate({ url: server.url, token, people, server: 'shop', inFlightMs: 50 }),
    settle: async (call, outcome) => {
      const body = { outcome, evidence: 'seen' };
      const asking = { token: people['manager:grace'], path: { trajectory: 'calls', call }, body };
      expect((await succeed(server, 'calls.settle', asking)).ruling.ruling).toBe('committed');
    },
    amend: async (end, args) => {
      const { call, approval } = end as PendingEnd;
      const token = people['manager:grace'];
      const { approval: shown } = await succeed(server, 'approvals.get', {
        token,
        path: { approval },
      });
      const body = { digest: (shown as { digest: string }).digest, args: proposedCall(call, args) };
      await succeed(server, 'approvals.approve', { token, path: { approval }, body });
    },
    observed: async () => observedIn(await server.service.store.entries('calls')),
  };
};

/** The arguments of the proposal of a call of `shop/pay`. */
function proposedCall(id: string, args: object): object {
  return { id, session: 'r1', server: 'shop', tool: 'pay', args, once: true };
}

/** The observations of the newest proposal of a call, without the mark of the attempt. */
function observedIn(rows: readonly EntryRow[]): unknown {
  const payloads = rows.map((row) => readRow(row).payload);
  const newest = payloads.findLast(
    (payload) => payload.kind === 'commit' && payload.action.name === 'call',
  );
  const { observations } = newest as unknown as {
    observations: { name: string; value: unknown }[];
  };
  return observations.filter(({ name }) => name !== 'attempt');
}

async function shopAt(place: Place, fail?: () => Error | undefined): Promise<Shop> {
  const gates: Gate[] = [];
  const { open, ...opened } = await place();
  onTestFinished(async () => {
    for (const gate of gates) await gate.close();
  });
  const other = async (): Promise<Gate> => {
    const gate = await open();
    gates.push(gate);
    return gate;
  };
  const made: unknown[] = [];
  const it: Shop = {
    gate: await other(),
    made,
    run: ({ args, ...more }) =>
      it.gate.run({ run: 'r1', id: 'c1', tool: 'pay', args, ...more }, async (begun) => {
        made.push(begun.args);
        const error = fail?.();
        if (error !== undefined) throw error;
        return { receipt: made.length };
      }),
    other,
    ...opened,
  };
  return it;
}

async function decide(
  { gate }: Shop,
  end: CallEnd<unknown>,
  decision: 'approve' | 'reject',
): Promise<void> {
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
    expect(await it.run({ args })).toMatchObject({
      end: 'done',
      result: { receipt: 1 },
      isRecorded: false,
    });
    expect(await it.run({ args })).toMatchObject({
      end: 'done',
      result: { receipt: 1 },
      isRecorded: true,
    });
    it.gate = await it.other();
    expect(await it.run({ args })).toMatchObject({
      end: 'done',
      result: { receipt: 1 },
      isRecorded: true,
    });
    expect(it.made).toEqual([args]);
    expect(await it.run({ id: 'c2', args })).toMatchObject({ end: 'done', result: { receipt: 2 } });
    expect(await it.run({ run: 'r2', args })).toMatchObject({
      end: 'done',
      result: { receipt: 3 },
    });
  });

  test('a call under the id of another one is refused', async () => {
    const it = await shopAt(place);
    await it.run({ args: { to: 'bob', cents: 5 } });
    expect(await it.run({ args: { to: 'bob', cents: 6 } })).toMatchObject({ end: 'refused' });
    const held = { id: 'c2', args: { to: 'bob', cents: 500 } };
    const asked = await it.run(held);
    expect(await it.run({ ...held, args: { to: 'eve', cents: 500 } })).toMatchObject({
      end: 'refused',
    });
    await decide(it, asked, 'approve');
    expect(await it.run({ ...held, args: { to: 'eve', cents: 500 } })).toMatchObject({
      end: 'refused',
    });
    expect(await it.run(held)).toMatchObject({ end: 'done' });
    expect(it.made).toEqual([{ to: 'bob', cents: 5 }, held.args]);
  });

  test('calls of other runs have other ids, also with dots and colons', async () => {
    const it = await shopAt(place);
    const held = { args: { to: 'bob', cents: 500 } };
    const names = [
      { run: 'a.b', id: 'c' },
      { run: 'a', id: 'b.c' },
      { run: 'a', id: 'b.c:2' },
      { run: 'a b', id: ' ' },
      { run: 'r'.repeat(300), id: 'c' },
      { run: 'r'.repeat(150), id: 'c'.repeat(48) },
    ];
    const ids = [];
    for (const name of names) ids.push((await it.run({ ...held, ...name })).call);
    expect(new Set(ids).size).toBe(names.length);
  });

  test('the approval of a tool is not that of another tool under its id', async () => {
    const it = await shopAt(place);
    const held = { run: 'r1', id: 'c1', tool: 'pay', args: { to: 'bob', cents: 500 } };
    const asked = await it.run(held);
    await decide(it, asked, 'approve');
    expect(await it.run({ ...held, tool: 'look' })).toMatchObject({ end: 'refused' });
    expect(await it.gate.judge({ ...held, id: 'c2', tool: 'look' })).toMatchObject({
      end: 'ready',
    });
    expect(await it.run({ ...held, id: 'c2' })).toMatchObject({ end: 'refused' });
    expect(it.made).toEqual([]);
    expect(await it.run(held)).toMatchObject({ end: 'done' });
  });

  test('a call with a hidden member is refused, and nothing is recorded', async () => {
    const it = await shopAt(place);
    for (const text of [
      '{"cents":5,"__proto__":{"to":"mallory"}}',
      '{"cents":5,"a":[{"__proto__":1}]}',
    ]) {
      const args = JSON.parse(text) as GateCall['args'];
      expect(await it.run({ args })).toMatchObject({
        end: 'refused',
        reason: expect.stringContaining('__proto__'),
      });
      const call = { run: 'r1', id: 'c1', tool: 'pay', args };
      expect(await it.gate.judge(call)).toMatchObject({ end: 'refused' });
    }
    expect(await it.run({ args: { to: 'bob', cents: 5 } })).toMatchObject({ end: 'done' });
    expect(it.made).toEqual([{ to: 'bob', cents: 5 }]);
  });

  test('a made call whose result is not JSON is done, and is not made again', async () => {
    const it = await shopAt(place);
    const call = { run: 'r1', id: 'c1', tool: 'pay', args: { to: 'bob', cents: 5 } };
    const make = async () => ({ at: new Date(5), sum: Number.NaN }) as never;
    expect(await it.gate.run(call, make)).toMatchObject({ end: 'done', isRecorded: false });
    expect(await it.gate.run(call, make)).toMatchObject({
      end: 'doubt',
      reason: expect.stringContaining('no JSON'),
    });
    const thrown = { name: Symbol('n'), toString: () => expect.unreachable() };
    const isUnknown = () => expect.unreachable();
    const strange = await it.gate.run({ ...call, id: 'c2' }, () => Promise.reject(thrown), {
      isUnknown,
    });
    expect(strange).toMatchObject({ end: 'doubt' });
    expect(await it.gate.run({ ...call, id: 'c2' }, make)).toMatchObject({ end: 'doubt' });
  });

  test('a denied call is not made, and an approved one is made once', async () => {
    const it = await shopAt(place);
    expect(await it.run({ id: 'm', args: { to: 'mallory', cents: 5 } })).toMatchObject({
      end: 'refused',
    });
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

  test('a call that waits for another one has no digest to decide by', async () => {
    const it = await shopAt(place);
    const blocking = { run: 'r1', id: 'c1', tool: 'pay', args: { to: 'eve', cents: 9950 } };
    const asked = (await it.run(blocking)) as PendingEnd;
    const { digest } = (await it.gate.port.shown(asked.approval))!;
    expect(await it.gate.held(blocking, asked)).toMatchObject({ args: blocking.args, digest });
    const small = { run: 'r2', id: 'c2', tool: 'pay', args: { to: 'bob', cents: 60 } };
    const blocked = (await it.run(small)) as PendingEnd;
    expect(blocked).toMatchObject({
      end: 'pending',
      approval: asked.approval,
      ruling: { ruling: 'frozen' },
    });
    const held = await it.gate.held(small, blocked);
    expect(held).toMatchObject({ args: small.args, approval: asked.approval });
    expect(held).not.toHaveProperty('digest');
    await decide(it, asked, 'reject');
    expect(await it.run(small)).toMatchObject({ end: 'done' });
  });

  test('a call is made with the arguments that a person has approved instead', async () => {
    const it = await shopAt(place);
    const held = { id: 'c2', args: { to: 'bob', cents: 500 } };
    await it.amend(await it.run(held), { to: 'bob', cents: 400 });
    it.gate = await it.other();
    expect(await it.run({ ...held, args: { to: 'bob', cents: 300 } })).toMatchObject({
      end: 'refused',
    });
    expect(await it.run(held)).toMatchObject({ end: 'done', isRecorded: false });
    expect(await it.run(held)).toMatchObject({
      end: 'done',
      result: { receipt: 1 },
      isRecorded: true,
    });
    it.gate = await it.other();
    expect(await it.run(held)).toMatchObject({
      end: 'done',
      result: { receipt: 1 },
      isRecorded: true,
    });
    expect(await it.run({ ...held, args: { to: 'bob', cents: 400 } })).toMatchObject({
      end: 'done',
      isRecorded: true,
    });
    expect(it.made).toEqual([{ to: 'bob', cents: 400 }]);
  });

  test('a call is made with approved arguments that the rules let through', async () => {
    const it = await shopAt(place);
    const held = { id: 'c2', args: { to: 'bob', cents: 500 } };
    await it.amend(await it.run(held), { to: 'bob', cents: 5 });
    expect(await it.run(held)).toMatchObject({ end: 'done', isRecorded: false });
    it.gate = await it.other();
    expect(await it.run(held)).toMatchObject({ end: 'done', isRecorded: true });
    expect(it.made).toEqual([{ to: 'bob', cents: 5 }]);
  });

  test.each<[string, (gate: Gate) => Promise<unknown>]>([
    ['a run', (gate) => gate.run({ ...CALL, run: undefined as never }, made)],
    ['an empty id', (gate) => gate.run({ ...CALL, id: '' }, made)],
    ['an id that is a number', (gate) => gate.judge({ ...CALL, id: 7 as never })],
    ['the function', (gate) => gate.run(CALL, undefined as never)],
    ['an option with a wrong name', (gate) => gate.run(CALL, made, { idempotent: true } as never)],
    [
      'a decision with a wrong word',
      (gate) => gate.port.decide('ab' as never, { ...DECISION, decision: 'ok' as never }),
    ],
  ])('a wrong argument is refused before anything is recorded: %s', async (_, ask) => {
    const { gate } = await shopAt(place);
    await expect(ask(gate)).rejects.toMatchObject({ code: 'bad_argument' });
    expect(await gate.run(CALL, made)).toMatchObject({ end: 'done', isRecorded: false });
  });

  test('a tool that makes its own call again is not waited for', async () => {
    const { gate } = await shopAt(place);
    const other = { ...CALL, id: 'c10' };
    const again = await gate.run(CALL, async () => {
      const inner = await gate.run(other, async () => (await gate.run(CALL, made)).end);
      return inner.end === 'done' ? inner.result : inner.end;
    });
    expect(again).toMatchObject({ end: 'done', result: 'doubt' });
    expect(await gate.run(CALL, made)).toMatchObject({
      end: 'done',
      result: 'doubt',
      isRecorded: true,
    });
  });

  test('a call that failed is not made again, unless it is idempotent', async () => {
    let error: Error | undefined = new Error('no money');
    const it = await shopAt(place, () => error);
    const args = { to: 'bob', cents: 5 };
    expect(await it.run({ args })).toMatchObject({ end: 'failed', error, isRecorded: false });
    expect(await it.run({ args })).toMatchObject({
      end: 'failed',
      error: { message: 'no money' },
      isRecorded: true,
    });
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
    expect(await it.gate.run(call, make, { isIdempotent: true })).toMatchObject({
      end: 'done',
      isRecorded: true,
    });
    expect(keys).toEqual(['r1.c1']);
  });

  test('an interrupted call is in doubt, and is not made again', async () => {
    const it = await shopAt(place, () => new DOMException('late', 'TimeoutError'));
    const args = { to: 'bob', cents: 5 };
    expect(await it.run({ args })).toMatchObject({
      end: 'doubt',
      reason: expect.stringContaining('late'),
    });
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
    expect(await other.run(call, make)).toMatchObject({
      end: 'done',
      result: { receipt: 1 },
      isRecorded: true,
    });
    expect(it.made).toEqual([1]);
  });

  test('of two processes that ask at the same time, one makes the call', async () => {
    const it = await shopAt(place);
    const other = await it.other();
    const call = { run: 'r1', tool: 'pay', args: { to: 'bob', cents: 5 } };
    const make = async () => it.made.push(1);
    // Both know the session, so neither reads what the other one has recorded.
    for (const gate of [it.gate, other]) await gate.run({ ...call, id: 'c0' }, make);
    for (const id of ['c1', 'c2', 'c3', 'c4'])
      await Promise.all([it.gate, other].map((gate) => gate.run({ ...call, id }, make)));
    expect(it.made).toHaveLength(5);
  });

  test('of two processes that know an approval, one makes the call', async () => {
    const it = await shopAt(place);
    const held = { args: { to: 'bob', cents: 500 } };
    await decide(it, await it.run(held), 'approve');
    const one = it.gate;
    const other = await it.other();
    expect(await it.run(held)).toMatchObject({ end: 'done', isRecorded: false });
    it.gate = other;
    expect(await it.run(held)).toMatchObject({
      end: 'done',
      result: { receipt: 1 },
      isRecorded: true,
    });
    it.gate = one;
    expect(await it.run(held)).toMatchObject({ end: 'done', isRecorded: true });
    expect(it.made).toHaveLength(1);
  });

  test('a result that is too large to keep is returned once', async () => {
    const it = await shopAt(place);
    const call = { run: 'r1', id: 'c1', tool: 'pay', args: { to: 'bob', cents: 5 } };
    const make = async () => 'x'.repeat(1_000_001);
    expect(await it.gate.run(call, make)).toMatchObject({ end: 'done', isRecorded: false });
    expect(await it.gate.run(call, make)).toMatchObject({
      end: 'doubt',
      reason: expect.stringContaining('too large'),
    });
    const result = 'x'.repeat(999_990);
    for (const isRecorded of [false, true])
      expect(await it.gate.run({ ...call, id: 'c2' }, async () => result)).toEqual({
        ...{ end: 'done', call: 'r1.c2', result, isRecorded },
      });
  });

  test('a reported result that no entry can hold is recorded by its hash', async () => {
    const it = await shopAt(place);
    for (const [id, bytes] of [
      ['c1', 1_000_100],
      ['c2', 1_040_001],
      ['c3', 4_000_000],
    ] as const) {
      const call = {
        id: `r1.${id}`,
        session: 'r1',
        server: 'shop',
        tool: 'pay',
        args: { to: 'bob', cents: 5 },
      };
      expect(await it.gate.port.ask(call, { waitMs: 0, match: 'id' })).toMatchObject({
        kind: 'allowed',
      });
      const result = 'x'.repeat(bytes - 2);
      expect(await it.gate.port.report(call.id, { outcome: 'done', result })).toBe(true);
      const kept =
        bytes < 1_040_000 ? result : { bytes, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) };
      expect(await it.gate.port.outcomeOf(call.id)).toEqual({ outcome: 'done', result: kept });
    }
  });

  test('a run and an id of any text are a call', async () => {
    const it = await shopAt(place);
    const call = { run: 'user 7/ä', id: 'call 1', args: { to: 'bob', cents: 5 } };
    expect(await it.run(call)).toMatchObject({ end: 'done', isRecorded: false });
    expect(await it.run(call)).toMatchObject({ end: 'done', isRecorded: true });
    expect(it.made).toHaveLength(1);
  });

  test('a call of another tool under the id of a running one is refused', async () => {
    const it = await shopAt(place);
    const { promise: release, resolve } = Promise.withResolvers<void>();
    const call = { run: 'r1', id: 'c1', tool: 'look', args: { to: 'bob', cents: 5 } };
    const one = it.gate.run(call, async () => {
      await release;
      return null;
    });
    expect(await it.run({ id: 'c1', args: call.args })).toMatchObject({ end: 'refused' });
    resolve();
    expect(await one).toMatchObject({ end: 'done' });
    expect(it.made).toEqual([]);
  });

  test('a reading call without a recorded result is made again', async () => {
    const it = await shopAt(place);
    const call = { run: 'r1', id: 'c1', tool: 'look', args: {} };
    const report = it.gate.port.report.bind(it.gate.port);
    it.gate.port.report = () => Promise.reject(new Error('the process has ended'));
    const made: number[] = [];
    const make = async () => made.push(1);
    expect(await it.gate.run(call, make)).toMatchObject({
      end: 'done',
      result: 1,
      isRecorded: false,
    });
    it.gate.port.report = report;
    it.gate = await it.other();
    expect(await it.gate.run(call, make)).toMatchObject({
      end: 'done',
      result: 2,
      isRecorded: false,
    });
    expect(await it.gate.run(call, make)).toMatchObject({
      end: 'done',
      result: 2,
      isRecorded: true,
    });
    await it.gate.close();
    it.gate = await it.other();
    expect(await it.gate.run(call, make)).toMatchObject({
      end: 'done',
      result: 2,
      isRecorded: true,
    });
    expect(made).toHaveLength(2);
  });

  test('a reading call that fails is made again by a repetition, not before', async () => {
    let error: Error | undefined = new DOMException('late', 'TimeoutError');
    const it = await shopAt(place, () => error);
    expect(await it.run({ tool: 'look', args: {} })).toMatchObject({ end: 'doubt' });
    expect(it.made).toHaveLength(1);
    error = undefined;
    expect(await it.run({ tool: 'look', args: {} })).toMatchObject({
      end: 'done',
      result: { receipt: 2 },
    });
  });

  test('a call that is judged ahead does not start, and is made once later', async () => {
    const it = await shopAt(place);
    const judge = (call: Partial<GateCall>, options = {}) =>
      it.gate.judge({ run: 'r1', id: 'c1', tool: 'pay', args: {}, ...call }, options);
    const small = { args: { to: 'bob', cents: 5 } };
    expect(await judge(small)).toEqual({ end: 'ready', call: 'r1.c1' });
    it.gate = await it.other();
    expect(await judge(small)).toEqual({ end: 'ready', call: 'r1.c1' });
    expect(await judge({ args: { to: 'bob', cents: 6 } })).toMatchObject({ end: 'refused' });
    expect(await it.run({ args: { to: 'bob', cents: 6 } })).toMatchObject({ end: 'refused' });
    expect(await it.run(small)).toMatchObject({ end: 'done', isRecorded: false });
    expect(await it.run(small)).toMatchObject({ end: 'done', isRecorded: true });
    expect(await judge(small)).toEqual({ end: 'begun', call: 'r1.c1' });
    expect(await judge({ id: 'm', args: { to: 'mallory', cents: 5 } })).toMatchObject({
      end: 'refused',
    });
    const held = { id: 'c2', args: { to: 'bob', cents: 500 } };
    const asked = await judge(held);
    expect(asked).toMatchObject({ end: 'pending', reason: expect.stringContaining('large') });
    expect(await it.run(held)).toEqual(asked);
    await decide(it, asked as PendingEnd, 'approve');
    expect(await judge(held)).toMatchObject({ end: 'ready' });
    expect(await it.run(held)).toMatchObject({ end: 'done', isRecorded: false });
    expect(it.made).toEqual([small.args, held.args]);
  });

  test('a call that has to be known is refused if it was never asked for', async () => {
    const it = await shopAt(place);
    const call = { run: 'r1', id: 'c1', tool: 'pay', args: { to: 'bob', cents: 5 } };
    const make = async () => {
      it.made.push(call.args);
      return { receipt: 1 };
    };
    const unknown = { end: 'refused', reason: expect.stringContaining('not asked for before') };
    expect(await it.gate.judge(call, { isKnown: true })).toMatchObject(unknown);
    expect(await it.gate.run(call, make, { isKnown: true })).toMatchObject(unknown);
    expect(await it.gate.judge(call)).toMatchObject({ end: 'ready' });
    expect(await it.gate.judge(call, { isKnown: true })).toMatchObject({ end: 'ready' });
    expect(await it.gate.run(call, make, { isKnown: true })).toMatchObject({
      end: 'done',
      isRecorded: false,
    });
    expect(it.made).toHaveLength(1);
  });

  test('the ledger has the observations of a call', async () => {
    const it = await shopAt(place);
    const observations = [{ name: 'graph', value: { checkpoint: 'k1' } }];
    expect(await it.run({ args: { to: 'bob', cents: 5 }, observations })).toMatchObject({
      end: 'done',
    });
    expect(await it.observed()).toMatchObject(observations);
  });

  test('a call that a person has settled has no result, and is not made', async () => {
    const it = await shopAt(place, () => new DOMException('late', 'TimeoutError'));
    const args = { to: 'bob', cents: 5 };
    expect(await it.run({ args })).toMatchObject({ end: 'doubt' });
    await it.settle('r1.c1', 'done');
    expect(await it.run({ args })).toMatchObject({ end: 'doubt', settled: 'done' });
    expect(it.made).toHaveLength(1);
  });
});

test('a gate in memory makes its calls, with and without rules', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-gate-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const rules = join(folder, 'assize.yaml');
  writeFileSync(
    rules,
    'id: all\ntools:\n  shop/pay: { class: irreversible }\nrules:\n  - { id: all, allow: shop/pay }\n',
  );
  const open = (more: object) => openGate({ store: 'memory:', server: 'shop', env: {}, ...more });
  const [one, other, asks] = await Promise.all([open({ rules }), open({ rules }), open({})]);
  for (const gate of [one, other])
    expect(await gate.run(CALL, made)).toMatchObject({ end: 'done', result: { receipt: 1 } });
  expect(await asks.run(CALL, made)).toMatchObject({ end: 'pending' });
  for (const gate of [one, other, asks]) await gate.close();
});
