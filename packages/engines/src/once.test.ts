/** Calls in steps, and the parts of each engine that the others do not have. */

import type { HeldCall } from '@assize/gate/internal/calls';
import { expect, onTestFinished, test } from 'vitest';
import {
  CancelledFailure,
  fakeRestate,
  fakeTemporal,
  TerminalError,
} from '../tests/support/fakes.ts';
import { Shop } from '../tests/support/shop.ts';
import { type DbosSdk, dbosOnce, once, temporalOnce } from './index.ts';

async function opened() {
  const shop = new Shop();
  onTestFinished(() => shop.close());
  return { shop, gate: await shop.gate() };
}

const small = { run: 'order-7', key: 'pay', tool: 'pay', args: { to: 'bob', cents: 50 } };
const large = { ...small, args: { to: 'bob', cents: 900 } };

test('a call that waits may be repeated, and tells what a person sees', async () => {
  const { shop, gate } = await opened();
  const error = await once(gate, large, () => 'paid').catch((thrown) => thrown);
  expect(error).toMatchObject({
    ...{ code: 'call_pending', retryable: true },
    evidence: {
      tool: 'pay',
      args: large.args,
      digest: expect.any(String),
      reason: expect.stringContaining('large'),
    },
  });
  await shop.decide(error.evidence as HeldCall);
  expect(await once(gate, large, () => 'paid')).toBe('paid');
  expect(await once(gate, large, () => 'paid again')).toBe('paid');
});

test('an approval of one call is not one of another', async () => {
  const { shop, gate } = await opened();
  const { evidence } = await once(gate, large, () => 'paid').catch((thrown) => thrown);
  await shop.decide(evidence as HeldCall);
  const other = { ...large, args: { to: 'eve', cents: 900 } };
  await expect(once(gate, other, () => 'paid')).rejects.toMatchObject({
    code: 'call_refused',
    retryable: false,
  });
  await expect(once(gate, { ...large, key: 'pay-2' }, () => 'paid')).rejects.toMatchObject({
    code: 'call_pending',
  });
});

test('a call that a person has settled says so', async () => {
  const { shop, gate } = await opened();
  const aborted = () => Promise.reject(new DOMException('aborted', 'AbortError'));
  await expect(once(gate, small, aborted)).rejects.toMatchObject({
    ...{ code: 'call_in_doubt', retryable: true },
    evidence: { call: 'order-7.pay', tool: 'pay', args: small.args },
  });
  await shop.settle('order-7.pay', 'done');
  const other = await shop.gate();
  await expect(once(other, small, () => 'paid')).rejects.toMatchObject({
    ...{
      code: 'call_in_doubt',
      retryable: false,
      evidence: { call: 'order-7.pay', settled: 'done' },
    },
  });
});

test('the errors that leave a call in doubt are those that the program names', async () => {
  const { gate } = await opened();
  const fails = () => Promise.reject(new Error('reset'));
  const isUnknown = (error: unknown) => (error as Error).message === 'reset';
  await expect(once(gate, small, fails, { isUnknown })).rejects.toMatchObject({
    code: 'call_in_doubt',
  });
});

test('a call of no run, key, tool or function is refused', async () => {
  const { gate } = await opened();
  for (const wrong of [{ run: '' }, { key: '' }, { tool: '' }, { args: null }])
    await expect(once(gate, { ...small, ...wrong } as never, () => null)).rejects.toMatchObject({
      code: 'bad_argument',
    });
  await expect(once(gate, small, null as never)).rejects.toMatchObject({ code: 'bad_argument' });
});

test('Restate gets the terminal error of a function as it is', async () => {
  const { gate } = await opened();
  const broke = new TerminalError('no funds', { errorCode: 402 });
  const run = fakeRestate(gate).run('w1', {}, () => Promise.reject(broke));
  await expect(run).rejects.toBe(broke);
  expect(await gate.port.outcomeOf('w1.pay')).toMatchObject({ outcome: 'failed' });
});

test('Temporal gets a cancellation as it is, and its call is in doubt', async () => {
  const { gate } = await opened();
  const cancelled = new CancelledFailure('cancelled');
  const run = fakeTemporal(gate).run('w1', {}, () => Promise.reject(cancelled));
  await expect(run).rejects.toBe(cancelled);
  expect(await gate.port.outcomeOf('w1.pay')).toMatchObject({ outcome: 'unknown' });
});

test('an activity is its own key, and one outside of a workflow names its run', async () => {
  const { gate } = await opened();
  const sdk = (workflowExecution?: { workflowId: string; runId: string }) => ({
    activityInfo: () => ({ activityId: '5', attempt: 1, workflowExecution }),
    ApplicationFailure: { create: (failure: object) => Object.assign(new Error(), failure) },
    CancelledFailure,
  });
  const { tool, args } = small;
  const inWorkflow = temporalOnce(gate, sdk({ workflowId: 'bills', runId: 'r1' }));
  expect(await inWorkflow({ tool, args }, ({ call }) => call)).toBe('r1.5');
  const alone = temporalOnce(gate, sdk());
  expect(await alone({ tool, args, run: 'order-7' }, ({ call }) => call)).toBe('order-7.5');
  await expect(alone({ tool, args }, () => null)).rejects.toMatchObject({
    type: 'no_identity',
    message: expect.stringContaining('is in no workflow'),
    nonRetryable: true,
  });
});

test('a fork of a fork in DBOS is the run of the first workflow', async () => {
  const { gate } = await opened();
  const before: Record<string, string> = { w3: 'w2', w2: 'w1' };
  const sdk = (workflowID: string | undefined): DbosSdk => ({
    ...{ workflowID, stepID: 0, isInWorkflow: () => false },
    runStep: (step) => step(),
    recv: async () => null,
    setEvent: async () => undefined,
    getWorkflowStatus: async (id) => (before[id] === undefined ? null : { forkedFrom: before[id] }),
  });
  const { run, ...call } = small;
  expect(await dbosOnce(gate, sdk('w3'))(call, (begun) => begun.call)).toBe('w1.pay');
  expect(await dbosOnce(gate, sdk(undefined))({ ...call, run }, (begun) => begun.call)).toBe(
    'order-7.pay',
  );
  await expect(dbosOnce(gate, sdk(undefined))(call, () => null)).rejects.toMatchObject({
    code: 'no_identity',
    message: expect.stringContaining('workflow of DBOS'),
  });
});
