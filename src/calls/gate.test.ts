/** A gate in one process: calls of a framework that are asked about, made once, and recorded. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type CallEnd, type Gate, type GateCall, openGate } from './index.ts';

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
  /** Opens the store again, as another process would. */
  reopen(): Promise<void>;
}

async function shop(fail?: () => Error | undefined): Promise<Shop> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-gate-'));
  const rules = join(folder, 'assize.yaml');
  writeFileSync(rules, RULES);
  const open = () =>
    openGate({
      store: `sqlite:${join(folder, 'calls.db')}`,
      rules,
      agent: 'ada',
      server: 'shop',
      inFlightMs: 50,
      env: {},
    });
  const made: unknown[] = [];
  const it: Shop = {
    gate: await open(),
    made,
    run: ({ args, ...more }) =>
      it.gate.run({ run: 'r1', id: 'c1', tool: 'pay', args, ...more }, async () => {
        made.push(args);
        const error = fail?.();
        if (error !== undefined) throw error;
        return { receipt: made.length };
      }),
    reopen: async () => {
      await it.gate.port.close();
      it.gate = await open();
    },
  };
  onTestFinished(async () => {
    await it.gate.port.close();
    rmSync(folder, { recursive: true });
  });
  return it;
}

async function decide({ gate }: Shop, end: CallEnd<unknown>, decision: 'approve' | 'reject'): Promise<void> {
  if (end.end !== 'pending') throw new Error(`the call is ${end.end}`);
  const { digest } = (await gate.port.shown(end.approval))!;
  await gate.port.decide(end.approval, { decision, by: 'manager:grace', method: 'test', digest });
}

test('an allowed call is made once, and a repetition gets its result', async () => {
  const it = await shop();
  const args = { to: 'bob', cents: 5 };
  expect(await it.run({ args })).toMatchObject({ end: 'done', result: { receipt: 1 }, isRecorded: false });
  expect(await it.run({ args })).toMatchObject({ end: 'done', result: { receipt: 1 }, isRecorded: true });
  await it.reopen();
  expect(await it.run({ args })).toMatchObject({ end: 'done', result: { receipt: 1 }, isRecorded: true });
  expect(it.made).toEqual([args]);
  expect(await it.run({ id: 'c2', args })).toMatchObject({ end: 'done', result: { receipt: 2 } });
  expect(await it.run({ run: 'r2', args })).toMatchObject({ end: 'done', result: { receipt: 3 } });
});

test('a call under the id of another one is refused', async () => {
  const it = await shop();
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
  const it = await shop();
  expect(await it.run({ id: 'm', args: { to: 'mallory', cents: 5 } })).toMatchObject({ end: 'refused' });
  const held = { id: 'c2', args: { to: 'bob', cents: 500 } };
  const asked = await it.run(held);
  expect(asked).toMatchObject({ end: 'pending', reason: expect.stringContaining('large') });
  expect(await it.run(held)).toEqual(asked);
  const other = await it.run({ ...held, id: 'c3' });
  await it.reopen();
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
  const it = await shop(() => error);
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
  expect(await it.gate.run(call, make, { isIdempotent: true })).toMatchObject({ end: 'done', result: { receipt: 9 } });
  expect(await it.gate.run(call, make, { isIdempotent: true })).toMatchObject({ end: 'done', isRecorded: true });
  expect(keys).toEqual(['r1.c1']);
});

test('an interrupted call is in doubt, and is not made again', async () => {
  const it = await shop(() => new DOMException('late', 'TimeoutError'));
  const args = { to: 'bob', cents: 5 };
  expect(await it.run({ args })).toMatchObject({ end: 'doubt', reason: expect.stringContaining('late') });
  expect(await it.run({ args })).toMatchObject({ end: 'doubt' });
  await it.reopen();
  expect(await it.run({ args })).toMatchObject({ end: 'doubt' });
  expect(it.made).toHaveLength(1);
});

test('two gates over one store make a call once', async () => {
  const it = await shop();
  const first = it.gate;
  const args = { to: 'bob', cents: 5 };
  const { promise, resolve } = Promise.withResolvers<void>();
  const one = first.run({ run: 'r1', id: 'c1', tool: 'pay', args }, async () => {
    await promise;
    return { receipt: 1 };
  });
  await expect.poll(async () => (await first.port.outcomeOf('r1.c1')) ?? 'open').toBe('open');
  resolve();
  expect(await one).toMatchObject({ end: 'done', isRecorded: false });
});
