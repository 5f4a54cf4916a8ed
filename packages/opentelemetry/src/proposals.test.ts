/** Spans of proposals and of approvals of any domain. */

import { MemoryStore } from '@assize/testing/memory';
import type { Domain } from 'assize/internal/kernel';
import { traceparentIn } from 'assize/internal/ledger';
import { expect, test } from 'vitest';
import { deskOf, FaultyStore, payloads } from '../../../tests/support/ledger/desk.ts';
import { HandClock, intent, runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';
import { spans } from '../../../tests/support/spans.ts';
import { Bank, payments } from '../../../tests/support/tools/bank.ts';
import { traceAssize } from './index.ts';

const writ = writFor('agent');
const REMOTE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

async function begun() {
  const store = new FaultyStore();
  const clock = new HandClock();
  const desk = deskOf('footprint');
  const options = { ports: { clock }, approvals: { timeoutMs: 86_400_000 } };
  const trajectory = await runtimeOver(store, [desk], options).create(desk, {
    trajectoryId: 't',
    writs: [writ],
  });
  const ask = async (more = {}): Promise<string> => {
    const ruling = await trajectory.propose(intent('ask', { amount: 5 }, writ, more));
    if (ruling.ruling !== 'escalated') throw new Error(ruling.ruling);
    return ruling.pending;
  };
  return { store, clock, trajectory, ask };
}

test('a proposal is a span under the work of its program', async () => {
  const { trajectory, store } = await begun();
  const told = spans();
  await told.within('work', () => trajectory.propose(intent('add', { by: 1 }, writ)));
  await trajectory.propose(intent('add', { by: 99 }, writ));
  expect(told.tree()).toEqual(['work', '  assize.propose', 'assize.propose']);
  expect(told.named('assize.propose').map(({ attributes }) => attributes)).toMatchObject([
    {
      'assize.trajectory': 't',
      'assize.action': 'add',
      'assize.ruling': 'committed',
      'assize.seq': 1,
    },
    {
      'assize.ruling': 'rejected',
      'assize.reason': 'invariant_rejected',
      'assize.rule': expect.any(String),
    },
  ]);
  const recorded = (await payloads(store, 't')).map(traceparentIn);
  expect(recorded.slice(1).map((one) => one?.split('-')[2])).toEqual(
    told.named('assize.propose').map((span) => span.spanContext().spanId),
  );
});

test('a proposal goes on with the trace of a caller in another process', async () => {
  const { trajectory } = await begun();
  const told = spans();
  await trajectory.propose(intent('add', { by: 1 }, writ, { traceparent: REMOTE }));
  const [span] = told.all;
  expect(span?.spanContext().traceId).toBe(REMOTE.split('-')[1]);
  expect(span?.parentSpanContext?.spanId).toBe(REMOTE.split('-')[2]);
});

test('a refused and an expired proposal have a wait in the trace that asked', async () => {
  const { trajectory, clock, ask } = await begun();
  const told = spans();
  const refused = await ask({ traceparent: REMOTE });
  clock.forward(60_000);
  await trajectory.approvals.reject(refused, { principal: 'dr-who', method: 'test', reason: 'no' });
  const expired = await ask({ traceparent: REMOTE });
  clock.forward(86_400_000);
  await trajectory.propose(intent('add', { by: 1 }, writ));
  const waits = told.named('assize.wait');
  expect(waits.map(({ attributes }) => attributes)).toMatchObject([
    { 'assize.approval': refused, 'assize.decision': 'rejected' },
    { 'assize.approval': expired, 'assize.decision': 'expired' },
  ]);
  expect(waits.map((span) => span.spanContext().traceId)).toEqual(
    Array(2).fill(REMOTE.split('-')[1]),
  );
  expect(waits[0]?.duration).toEqual([60, 0]);
});

test('a repetition links to the trace of the first proposal', async () => {
  const { trajectory } = await begun();
  const told = spans();
  const once = intent('add', { by: 1 }, writ, { idempotencyKey: 'k' });
  await told.within('first', () => trajectory.propose(once));
  await told.within('second', () => trajectory.propose(once));
  const [first, second] = told.named('assize.propose');
  expect(first?.links).toEqual([]);
  expect(second?.links.map((link) => link.context.spanId)).toEqual([first?.spanContext().spanId]);
});

test('an error of a proposal has its code, and no message', async () => {
  const { trajectory } = await begun();
  const told = spans();
  const bad = intent('add', { by: 1 }, writ, {
    observations: [{ name: 'assize.hidden', value: 1 }],
  });
  await expect(trajectory.propose(bad)).rejects.toMatchObject({ code: 'bad_intent' });
  const [span] = told.all;
  expect(span?.attributes['error.type']).toBe('bad_intent');
  expect(span?.status).toEqual({ code: 2 });
  expect(span?.events).toEqual([]);
});

test('a second tracer is refused until the first is stopped', () => {
  const told = spans();
  expect(() => traceAssize()).toThrow(
    expect.objectContaining({
      code: 'misuse',
      message: expect.stringContaining('This process has a tracer of Assize already'),
    }),
  );
  told.stop();
  traceAssize()();
});

test('without an SDK nothing fails, and nothing is recorded', async () => {
  const { trajectory, store } = await begun();
  const stop = traceAssize();
  await trajectory.propose(intent('add', { by: 1 }, writ)).finally(stop);
  expect((await payloads(store, 't')).map(traceparentIn)).toEqual([undefined, undefined]);
});

test('the calls of a transaction are spans; a repetition adds none', async () => {
  const bank = new Bank();
  const domain = payments(bank, 'allow') as unknown as Domain;
  const assize = runtimeOver(new MemoryStore(), [domain], {
    tools: [bank.pay as never, bank.wire as never],
  });
  const trajectory = await assize.create(domain, { trajectoryId: 't', writs: [writ] });
  const told = spans();
  const run = () =>
    trajectory.transaction({ name: 'bill', writ, writes: ['bank:**'] }, async (tx) => {
      await tx.call('bank.pay', { to: 'bob', cents: 7 });
      tx.propose({ action: 'pay', role: 'clerk', args: { to: 'bob', cents: 5 } });
    });
  const done = await run();
  expect(done).toMatchObject({ ruling: { ruling: 'committed' } });
  expect(told.named('assize.effect').map(({ attributes }) => attributes)).toEqual([
    {
      'assize.epoch': 1,
      'assize.effect': 0,
      'assize.tool': 'bank.pay',
      'assize.how': 'call',
      'assize.phase': 'applied',
    },
    {
      'assize.epoch': 1,
      'assize.effect': 1,
      'assize.tool': 'bank.pay',
      'assize.how': 'call',
      'assize.phase': 'applied',
    },
  ]);
  expect((await run()).ruling).toMatchObject({
    entry: { id: (done.ruling as { entry: { id: string } }).entry.id },
  });
  expect(bank.paid).toEqual([7, 5]);
});
