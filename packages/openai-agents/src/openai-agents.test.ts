/** Tool calls of the OpenAI Agents SDK, through the gate. */
import {
  Agent,
  Runner,
  RunState,
  setTraceProcessors,
  setTracingDisabled,
  tool,
} from '@openai/agents';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { expect, onTestFinished, test } from 'vitest';
import { decide, deskOf, named, pay } from '../../../tests/support/openai-agents-runs.ts';
import { gatedTools, heldCalls } from './index.ts';

test('an allowed call is made, and the model learns of a refused one', async () => {
  const it = await deskOf();
  const { told, paused } = await it.start([pay('c1', 'bob', 5), pay('c2', 'mallory', 5)]);
  expect(told).toEqual([
    ['c1', 'paid bob'],
    ['c2', expect.stringContaining('never')],
  ]);
  expect(paused).toEqual([]);
  expect(it.made).toEqual([{ to: 'bob', cents: 5 }]);
});

test('a refusal is a result of a guardrail', async () => {
  const it = await deskOf();
  const { state } = await it.start([pay('c1', 'mallory', 5)]);
  expect(state._toolInputGuardrailResults).toMatchObject([
    {
      guardrail: { name: 'assize' },
      output: { behavior: { type: 'rejectContent' }, outputInfo: { call: 'r1.c1' } },
    },
  ]);
});

test('a held call interrupts, and is made once after a decision there', async () => {
  const it = await deskOf();
  const first = await it.start([pay('c1', 'bob', 500)]);
  expect(first.paused).toEqual(['c1']);
  expect(first.held).toMatchObject([
    {
      ...{ run: 'r1', id: 'c1', tool: 'pay', args: { to: 'bob', cents: 500 }, call: 'r1.c1' },
      ...{ reason: expect.stringContaining('large'), digest: expect.any(String) },
    },
  ]);
  const again = await it.resume(first.state);
  expect(again.paused).toEqual(['c1']);
  expect(it.made).toEqual([]);
  await decide(it, first.held[0]!, 'approve');
  const { told, paused, held } = await it.resume(again.state);
  expect(told).toEqual([['c1', 'paid bob']]);
  expect([paused, held]).toEqual([[], []]);
  expect(it.made).toEqual([{ to: 'bob', cents: 500 }]);
});

test('a call is made with the arguments that a person has approved instead', async () => {
  const it = await deskOf();
  const { state, held } = await it.start([pay('c1', 'bob', 500)]);
  const { approval, digest } = held[0]!;
  const by = { by: 'manager:grace', method: 'console', digest: digest! };
  await it.gate.port.decide(approval, {
    decision: 'approve',
    ...by,
    args: { to: 'bob', cents: 400 },
  });
  expect((await it.resume(state)).told).toEqual([['c1', 'paid bob']]);
  expect(it.made).toEqual([{ to: 'bob', cents: 400 }]);
});

test('a call of a streamed run is held and made', async () => {
  const it = await deskOf(named);
  const first = await it.start([pay('c1', 'bob', 500)], { runId: 'r1' }, { stream: true });
  expect(first.held).toMatchObject([{ id: 'c1' }]);
  expect(it.events).toContain('tool_approval_requested');
  first.state.approve(first.state.getInterruptions()[0]!);
  const { told } = await it.resume(first.state, { stream: true });
  expect(told).toEqual([['c1', 'paid bob']]);
  expect(it.events).toContain('tool_output');
  expect(it.made).toHaveLength(1);
});

test('the run of a call is named by its context, its group, or the program', async () => {
  const it = await deskOf({ run: ({ context }) => context.thread });
  const { held } = await it.start([pay('c1', 'bob', 500)], { thread: 't9', runId: 'r1' });
  expect(held).toMatchObject([{ run: 't9' }]);
  const none = await deskOf();
  const grouped = await deskOf();
  setTraceProcessors([]);
  setTracingDisabled(false);
  onTestFinished(() => setTracingDisabled(true));
  const runner = new Runner({ groupId: 'g7' });
  const model = new ScriptedModel([[pay('c1', 'bob', 500)]]);
  const agent = new Agent({ name: 'a', model, tools: [grouped.pay] });
  const { state } = await runner.run(agent, 'go');
  const restored = await RunState.fromString(agent, state.toString());
  expect(await heldCalls(restored)).toMatchObject([{ run: 'g7', id: 'c1' }]);
  expect((await runner.run(agent, restored)).interruptions).toHaveLength(1);
  await expect(none.start([pay('c1', 'bob', 5)], {})).rejects.toMatchObject({
    error: { code: 'no_identity', message: expect.stringContaining('runId') },
  });
  expect(none.made).toEqual([]);
});

test('a policy of the tool asks where the rules do not', async () => {
  const it = await deskOf({ tool: { needsApproval: true } });
  const first = await it.start([pay('c1', 'bob', 5), pay('c2', 'mallory', 5)]);
  expect(first.paused).toEqual(['c1']);
  expect(first.held).toEqual([]);
  const copy = await it.restore(first.state.toString());
  first.state.approve(first.state.getInterruptions()[0]!);
  expect((await it.resume(first.state)).told).toContainEqual(['c1', 'paid bob']);
  expect((await it.resume(copy)).told).toContainEqual(['c1', 'paid bob']);
  const rejected = await it.start([pay('c3', 'bob', 5)]);
  rejected.state.reject(rejected.state.getInterruptions()[0]!, { message: 'not today' });
  expect((await it.resume(rejected.state)).told).toEqual([
    ['c3', expect.stringContaining('not today')],
  ]);
  expect(it.made).toHaveLength(1);
});

test('tools of an agent that is a tool are gated inside', async () => {
  const it = await deskOf();
  const inner = new Agent({
    name: 'inner',
    model: new ScriptedModel([[pay('n1', 'bob', 500)], [assistantMessage('inner is done')]]),
    tools: [it.pay],
  });
  const asTool = inner.asTool({ toolName: 'delegate', toolDescription: 'Delegates.' });
  expect(() => gatedTools(it.gate, [asTool])).toThrow('runs no agent');
  const outer = new Agent({
    name: 'outer',
    model: new ScriptedModel([
      [functionCall('delegate', { input: 'pay' }, { callId: 'o1' })],
      [assistantMessage('done')],
    ]),
    tools: [asTool],
  });
  const runner = new Runner({ tracingDisabled: true });
  const first = await it.ended(
    (await runner.run(outer, 'go', { context: { runId: 'r1' } })) as never,
  );
  expect(first.held).toMatchObject([{ run: 'r1', id: 'n1' }]);
  await decide(it, first.held[0]!, 'approve');
  const last = await runner.run(outer, first.state as never);
  expect(last.finalOutput).toBe('done');
  expect(it.made).toHaveLength(1);
});

test('an answer to a call of an agent that is a tool counts', async () => {
  const it = await deskOf(named);
  const calls = [pay('n1', 'bob', 500), pay('n2', 'eve', 500)];
  const inner = new Agent({
    name: 'inner',
    model: new ScriptedModel([calls, [assistantMessage('inner is done')]]),
    tools: [it.pay],
  });
  const asTool = inner.asTool({ toolName: 'delegate', toolDescription: 'Delegates.' });
  const model = new ScriptedModel([
    [functionCall('delegate', { input: 'pay' }, { callId: 'o1' })],
    [assistantMessage('done')],
  ]);
  const outer = new Agent({ name: 'outer', model, tools: [asTool] });
  const context = { runId: 'r1' };
  const first = await it.ended((await it.runner.run(outer, 'go', { context })) as never);
  first.state.approve(
    first.state.getInterruptions().find(({ rawItem }) => JSON.stringify(rawItem).includes('n2'))!,
  );
  const second = await it.ended((await it.runner.run(outer, first.state as never)) as never);
  expect(second.held).toMatchObject([{ id: 'n1' }]);
  expect(it.made).toEqual([{ to: 'eve', cents: 500 }]);
  second.state.reject(second.state.getInterruptions()[0]!, { message: 'no' });
  expect((await it.runner.run(outer, second.state as never)).finalOutput).toBe('done');
  expect(it.made).toHaveLength(1);
});

test('arguments that are not an object, or not JSON, are judged or reported', async () => {
  const it = await deskOf();
  const seen: unknown[] = [];
  const look = tool({
    name: 'look',
    description: 'Looks.',
    strict: false,
    parameters: { type: 'object', properties: {}, required: [], additionalProperties: true },
    execute: async (input) => {
      seen.push(input);
      return { seen: 1 };
    },
  });
  const [gated] = gatedTools(it.gate, [look]);
  const calls = ['[1]', '{}', '{"a":'].map((text, i) =>
    functionCall('look', text, { callId: `c${i + 1}` }),
  );
  const agent = new Agent({
    name: 'a',
    model: new ScriptedModel([calls, [assistantMessage('bye')]]),
    tools: [gated],
  });
  const first = await it.runner.run(agent, 'go', { context: { runId: 'r1' } });
  // The SDK itself asks before it goes on with such arguments.
  expect(first.interruptions).toHaveLength(2);
  for (const item of first.interruptions) first.state.approve(item);
  const { told } = await it.ended((await it.runner.run(agent, first.state)) as never);
  expect(told).toContainEqual(['c3', expect.stringContaining('valid JSON')]);
  expect(seen).toEqual([{}, [1]]);
  expect(await it.gate.port.outcomeOf('r1.c1')).toMatchObject({ outcome: 'done' });
});
