/** Answers of `calls.ask` that are lost on their way: the same attempt gets the same answer. */
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connectGate, type Gate } from '@assize/gate/internal/calls';
import { gateway, readRules } from '@assize/gate/unstable/gateway';
import type { Domain } from 'assize/internal/kernel';
import { readRow } from 'assize/internal/ledger';
import { expect, onTestFinished, test } from 'vitest';
import { succeed } from '../../../../tests/support/server/calling.ts';
import { start, type TestServer } from '../../../../tests/support/server/serving.ts';

const RULES = `
id: shop
tools:
  shop/pay: { class: irreversible }
rules:
  - { id: small, allow: shop/pay, where: [{ path: /cents, max: 100 }] }
  - { id: large, ask: shop/pay, where: [{ path: /cents, min: 101 }] }
`;
const [ONE, OTHER] = ['1'.repeat(32), '2'.repeat(32)];

interface Shop {
  readonly server: TestServer;
  readonly token: string;
  /** Asks about a call of an id with so many cents, as an attempt. */
  ask(
    id: string,
    cents: number,
    attempt: string | undefined,
    more?: object,
  ): Promise<{ readonly decision: string }>;
  approve(approval: string, args?: object): Promise<void>;
}

async function shop(): Promise<Shop> {
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
  const person = await server.tokenFor('manager:grace');
  return {
    server,
    token,
    ask: (id, cents, attempt, more = {}) => {
      const body = {
        id,
        server: 'shop',
        tool: 'pay',
        args: { cents },
        ...(attempt && { attempt }),
        ...more,
      };
      return succeed(server, 'calls.ask', { token, path: { trajectory: 'calls' }, body });
    },
    approve: async (approval, args) => {
      const path = { approval };
      const { approval: shown } = await succeed(server, 'approvals.get', { token: person, path });
      const { digest, action } = shown;
      const body = { digest, ...(args && { args: { ...action.args, args } }) };
      await succeed(server, 'approvals.approve', { token: person, path, body });
    },
  };
}

test('the attempt that started a call immediately is allowed again', async () => {
  const { ask, server, token } = await shop();
  const allowed = { decision: 'allowed', call: 'c1', class: 'irreversible' };
  expect(await ask('c1', 5, ONE)).toEqual(allowed);
  expect(await ask('c1', 5, ONE)).toEqual(allowed);
  expect(await ask('c1', 5, OTHER)).toMatchObject({ decision: 'begun' });
  expect(await ask('c1', 5, undefined)).toMatchObject({ decision: 'begun' });
  expect(await ask('c1', 6, ONE)).toMatchObject({ decision: 'denied' });
  expect(await ask('c2', 5, ONE)).toMatchObject({ decision: 'allowed', call: 'c2' });
  const report = {
    token,
    path: { trajectory: 'calls', call: 'c1' },
    body: { outcome: 'done', result: 1 },
  };
  expect(await succeed(server, 'calls.report', report)).toEqual({ recorded: true });
  expect(await ask('c1', 5, ONE)).toMatchObject({ decision: 'begun', outcome: 'done' });
});

test('the attempt that began an approved call is allowed again', async () => {
  const { ask, approve } = await shop();
  const asked = await ask('c1', 500, ONE);
  expect(await ask('c1', 500, ONE)).toEqual(asked);
  await approve((asked as unknown as { approval: string }).approval, { cents: 400 });
  const allowed = { decision: 'allowed', call: 'c1', class: 'irreversible', args: { cents: 400 } };
  expect(await ask('c1', 500, OTHER)).toEqual(allowed);
  expect(await ask('c1', 500, OTHER)).toEqual(allowed);
  // The attempt that asked has not started the call.
  expect(await ask('c1', 500, ONE)).toMatchObject({ decision: 'begun' });
});

test('the attempt that judged a call ahead has not started it', async () => {
  const { ask } = await shop();
  expect(await ask('c1', 5, ONE, { later: true })).toMatchObject({ decision: 'ready' });
  expect(await ask('c1', 5, OTHER)).toMatchObject({ decision: 'allowed' });
  expect(await ask('c1', 5, ONE)).toMatchObject({ decision: 'begun' });
  expect(await ask('c1', 5, OTHER, { later: true })).toMatchObject({ decision: 'begun' });
});

test('of two attempts at the same time, one is allowed', async () => {
  const { ask, approve } = await shop();
  const attempts = [ONE, OTHER, ONE, OTHER, ONE, OTHER];
  const allowedOf = async (id: string, cents: number): Promise<number> => {
    const answers = await Promise.all(attempts.map((attempt) => ask(id, cents, attempt)));
    return new Set(attempts.filter((_, i) => answers[i]!.decision === 'allowed')).size;
  };
  expect(await allowedOf('c1', 5)).toBe(1);
  const asked = (await ask('c2', 500, undefined)) as unknown as { approval: string };
  await approve(asked.approval);
  expect(await allowedOf('c2', 500)).toBe(1);
});

test('an attempt is a text that cannot be guessed, and is not in the ledger', async () => {
  const { ask, server, token } = await shop();
  await ask('c1', 5, ONE);
  for (const attempt of ['', '1', 'A'.repeat(32), `${ONE}1`, 5]) {
    const body = { id: 'c2', server: 'shop', tool: 'pay', args: {}, attempt };
    const path = '/v1/trajectories/calls/calls';
    expect((await server.ask('POST', path, { token, body })).status).toBe(400);
  }
  const texts = (await server.service.store.entries('calls')).map((row) =>
    JSON.stringify(readRow(row)),
  );
  expect(texts.filter((text) => text.includes('attempt'))).toHaveLength(1);
  expect(texts.filter((text) => text.includes(ONE))).toEqual([]);
});

/** A gate whose answers to questions are lost on their way, as often as `times` says. */
async function lossyGate(
  { server, token }: Shop,
  times: number,
  cut: 'before' | 'within',
): Promise<Gate> {
  let left = times;
  const proxy = createServer((asked, answer) => {
    const { method = 'GET', url = '/' } = asked;
    const to = new URL(url, server.url);
    const headers = { ...asked.headers, host: to.host };
    const onward = send(to, { method, headers }, (from) => {
      const isLost = to.pathname.endsWith('/calls') && left-- > 0;
      if (!isLost) answer.writeHead(from.statusCode ?? 500, from.headers);
      if (!isLost) return void from.pipe(answer);
      from.resume().on('end', () => {
        if (cut === 'within')
          answer.writeHead(200, { 'content-length': '1000' }).write('{"decision":');
        setTimeout(() => answer.destroy(), 20);
      });
    });
    asked.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', () => resolve()));
  onTestFinished(() => void proxy.close());
  const { port } = proxy.address() as AddressInfo;
  return connectGate({ url: `http://127.0.0.1:${port}`, token, server: 'shop', inFlightMs: 0 });
}

test.each(['before', 'within'] as const)(
  'a gate asks again if its answer is cut %s',
  async (cut) => {
    const it = await shop();
    const gate = await lossyGate(it, 2, cut);
    const made: string[] = [];
    const run = (id: string) =>
      gate.run({ run: 'r1', id, tool: 'pay', args: { cents: 5 } }, async ({ call }) => {
        made.push(call);
        return made.length;
      });
    expect(await run('c1')).toMatchObject({ end: 'done', result: 1, isRecorded: false });
    expect(await run('c1')).toMatchObject({ end: 'done', result: 1, isRecorded: true });
    expect(await run('c2')).toMatchObject({ end: 'done', result: 2, isRecorded: false });
    expect(made).toEqual(['r1.c1', 'r1.c2']);
  },
);

test('a gate that loses every answer makes no call, and then is in doubt', async () => {
  const it = await shop();
  const gate = await lossyGate(it, 3, 'before');
  const call = { run: 'r1', id: 'c1', tool: 'pay', args: { cents: 5 } };
  const never = () => expect.unreachable('the call was made');
  await expect(gate.run(call, never)).rejects.toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining('does not answer'),
  });
  expect(await gate.run(call, never)).toMatchObject({ end: 'doubt' });
});
