/** Answers to interrupted runs: approvals and rejections in the state of the SDK. */
import { RunContext, RunState } from '@openai/agents';
import { expect, test } from 'vitest';
import { decide, deskOf, named, pay } from '../../../tests/support/openai-agents-runs.ts';
import { heldCalls } from './index.ts';

test('an approval of a named person is recorded, and the call is made', async () => {
  const seen: unknown[] = [];
  const it = await deskOf({
    approver: (answer, held, { context }) => {
      seen.push([answer, held]);
      return context.user;
    },
  });
  const { state, held } = await it.start([pay('c1', 'bob', 500)], {
    runId: 'r1',
    user: 'manager:grace',
  });
  state.approve(state.getInterruptions()[0]!);
  expect((await it.resume(state)).told).toEqual([['c1', 'paid bob']]);
  expect(seen).toEqual([[{ type: 'approve' }, held[0]]]);
  expect(it.made).toHaveLength(1);
});

test.each([
  ['no approver', {}],
  ['an unknown person', { approver: () => undefined }],
  ['an empty name', { approver: () => '' }],
  ['null', { approver: () => null as never }],
  ['true', { approver: () => true as never }],
])('an approval by %s approves nothing, and the pause is repeated', async (_, options) => {
  const it = await deskOf(options);
  const first = await it.start([pay('c1', 'bob', 500)]);
  first.state.approve(first.state.getInterruptions()[0]!);
  const again = await it.resume(first.state);
  expect(again.paused).toEqual(['c1']);
  expect(again.held).toEqual(first.held);
  expect(it.made).toEqual([]);
  await decide(it, again.held[0]!, 'approve');
  expect((await it.resume(again.state)).told).toEqual([['c1', 'paid bob']]);
});

test('an answer counts without a look at the held calls', async () => {
  let person: string | undefined;
  const it = await deskOf({ approver: () => person });
  const calls = it.plan([pay('c1', 'bob', 500)]);
  const first = await calls.run('go', { context: { runId: 'r1' } });
  first.state.approve(first.interruptions[0]!);
  const again = await calls.run(first.state, {});
  expect(again.interruptions).toHaveLength(1);
  const restored = await it.restore(again.state.toString());
  restored.approve(restored.getInterruptions()[0]!);
  expect((await calls.run(restored, {})).interruptions).toHaveLength(1);
  person = 'manager:grace';
  const last = await it.restore(again.state.toString());
  last.approve(last.getInterruptions()[0]!);
  expect((await calls.run(last, {})).finalOutput).toBe('bye');
  expect(it.made).toHaveLength(1);
});

test('an approval of every later call is refused, and approves nothing', async () => {
  const it = await deskOf(named);
  const { state } = await it.start([pay('c1', 'bob', 500)]);
  const [item] = state.getInterruptions();
  expect(() => state.approve(item!, { alwaysApprove: true })).toThrow(
    expect.objectContaining({
      code: 'bad_argument',
      message: expect.stringContaining('Let a person record a standing approval'),
    }),
  );
  expect(() => state.reject(item!, { alwaysReject: true })).toThrow(
    expect.objectContaining({
      code: 'bad_argument',
      message: expect.stringContaining('standing approval'),
    }),
  );
  expect((await it.resume(state)).paused).toEqual(['c1']);
  expect(it.made).toEqual([]);
});

test('a rejection tells the model its reason; a later approval is ignored', async () => {
  const it = await deskOf(named);
  const { state } = await it.start([pay('c1', 'bob', 500)]);
  const kept = state.toString();
  state.reject(state.getInterruptions()[0]!, { message: 'too much' });
  expect((await it.resume(state)).told).toEqual([['c1', expect.stringContaining('too much')]]);
  const copy = await it.copy();
  const again = await copy.restore(kept);
  again.approve(again.getInterruptions()[0]!);
  expect((await copy.resume(again)).told).toEqual([['c1', expect.stringContaining('too much')]]);
  expect(it.made).toEqual([]);
});

test('a rejection without a person decides nothing', async () => {
  const it = await deskOf();
  const { state, held } = await it.start([pay('c1', 'bob', 500)]);
  state.reject(state.getInterruptions()[0]!);
  const again = await it.resume(state);
  expect(again.paused).toEqual(['c1']);
  await decide(it, held[0]!, 'approve');
  expect((await it.resume(again.state)).told).toEqual([['c1', 'paid bob']]);
});

test('an approval that a state brings along does not count', async () => {
  const it = await deskOf(named);
  const { state } = await it.start([pay('c1', 'bob', 500)]);
  const forged = JSON.parse(state.toString());
  // As the SDK writes it: a process without the gate has approved.
  const plain = new RunState(new RunContext({ runId: 'r1' }), 'go', it.agent, 5);
  plain._context.approveTool(state.getInterruptions()[0]!, { alwaysApprove: true });
  const { functionApprovals, approvalInvocations, approvals } = JSON.parse(
    plain.toString(),
  ).context;
  Object.assign(forged.context, { functionApprovals, approvalInvocations, approvals });
  expect(JSON.stringify(forged)).toContain('"approved":true');
  const restored = await it.restore(JSON.stringify(forged));
  await expect(it.resume(restored)).rejects.toMatchObject({
    error: { code: 'wrong_state', message: expect.stringContaining('no person has') },
  });
  expect(it.made).toEqual([]);
});

test('the answer for one call is not the answer for its sibling', async () => {
  const it = await deskOf(named);
  const { state, paused } = await it.start([pay('c1', 'bob', 500), pay('c2', 'eve', 900)]);
  expect(paused).toEqual(['c1', 'c2']);
  state.approve(state.getInterruptions()[1]!);
  const second = await it.resume(state);
  expect(second.paused).toEqual(['c1']);
  expect(it.made).toEqual([{ to: 'eve', cents: 900 }]);
  await decide(it, second.held[0]!, 'approve');
  const last = await it.resume(second.state);
  expect(last.told).toEqual([
    ['c2', 'paid eve'],
    ['c1', 'paid bob'],
  ]);
  expect(it.made).toHaveLength(2);
});

test('an approval of one call does not approve the same call in another run', async () => {
  const it = await deskOf(named);
  const one = await it.start([pay('c1', 'bob', 500)]);
  const two = await it.start([pay('c1', 'bob', 500)], { runId: 'r2' });
  await decide(it, one.held[0]!, 'approve');
  expect((await it.resume(two.state)).paused).toEqual(['c1']);
  expect(it.made).toEqual([]);
});

test('an answer to a state with a context of the program counts', async () => {
  const it = await deskOf({ approver: (_answer, _held, { context }) => context.user });
  const { state } = await it.start([pay('c1', 'bob', 500)], { runId: 'r1' });
  const context = new RunContext({ runId: 'r1', user: 'manager:grace' });
  const options = { contextStrategy: 'replace' } as const;
  const restored = await RunState.fromStringWithContext(
    it.agent,
    state.toString(),
    context,
    options,
  );
  expect(await heldCalls(restored)).toMatchObject([{ id: 'c1' }]);
  restored.approve(restored.getInterruptions()[0]!);
  expect((await it.resume(restored as never)).told).toEqual([['c1', 'paid bob']]);
});

test('an expired question is a refusal', async () => {
  const it = await deskOf({ ...named, timeoutMs: 50 });
  const { state } = await it.start([pay('c1', 'bob', 500)]);
  await new Promise((resolve) => setTimeout(resolve, 80));
  state.approve(state.getInterruptions()[0]!);
  expect((await it.resume(state)).told).toEqual([['c1', expect.stringContaining('refused')]]);
  expect(it.made).toEqual([]);
});
