/** Tool calls of the AI SDK, through the gate. */
import { describe, expect, test } from 'vitest';
import {
  agentWay,
  answering,
  decide,
  generated,
  named,
  pay,
  runOf,
  streamedWay,
} from '../../../tests/support/ai-runs.ts';
import { assizeApproval } from './index.ts';

const large = pay('c1', 'bob', 500);

describe.each([
  ['generateText', generated],
  ['streamText', streamedWay],
  ['ToolLoopAgent', agentWay],
] as const)('%s', (_, way) => {
  test('an allowed call is made, and the model learns of a refused one', async () => {
    const it = await runOf(way);
    const { told } = await it.start([pay('c1', 'bob', 5), pay('c2', 'mallory', 5)]);
    expect(told).toMatchObject({
      c1: { type: 'text', value: 'paid bob' },
      c2: { type: 'execution-denied', reason: expect.stringContaining('never') },
    });
    expect(it.made).toEqual([{ to: 'bob', cents: 5 }]);
  });

  test('a held call is asked about, and made once after a decision there', async () => {
    const it = await runOf(way);
    const first = await it.start([large]);
    expect(first.asks).toMatchObject([
      {
        toolCallId: 'c1',
        reason: expect.stringContaining('[large]'),
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    // The word of the client is not enough.
    await expect(it.resume(answering(first, true))).rejects.toMatchObject({ code: 'call_pending' });
    expect(it.made).toEqual([]);
    await decide(it, large, 'approve');
    const { told } = await it.resume(answering(first, true));
    expect(told).toMatchObject({ c1: { value: 'paid bob' } });
    expect(it.made).toEqual([{ to: 'bob', cents: 500 }]);
  });

  test('a call that a named person approved in the answer is made', async () => {
    const it = await runOf(way, named);
    const first = await it.start([large]);
    const { told } = await it.resume(answering(first, true));
    expect(told).toMatchObject({ c1: { value: 'paid bob' } });
    expect(it.made).toHaveLength(1);
  });

  test('a tool alone asks too, without toolApproval', async () => {
    const it = await runOf(way, { ...named, isUntold: true });
    const first = await it.start([large, pay('c2', 'mallory', 5)]);
    expect(first.asks).toMatchObject([{ toolCallId: 'c1' }]);
    expect(first.told).toMatchObject({
      c2: { type: 'error-text', value: expect.stringContaining('never') },
    });
    expect(it.made).toEqual([]);
    const { told } = await it.resume(answering({ ...first, asks: first.asks.slice(0, 1) }, true));
    expect(told).toMatchObject({ c1: { value: 'paid bob' } });
    expect(it.made).toHaveLength(1);
  });
});

test('a set of tools that no gate has is refused', async () => {
  const tool = { inputSchema: {}, execute: () => 'made' };
  const asked = (tools: object) =>
    assizeApproval({
      toolCall: { toolName: 'pay', toolCallId: 'c1', input: {} },
      tools: tools as never,
      toolsContext: undefined,
      messages: [],
    });
  await expect(asked({ pay: tool })).rejects.toMatchObject({
    code: 'bad_argument',
    message: expect.stringContaining('Pass the tools that assizeTools returns'),
  });
  // Tools that are made elsewhere need no gate.
  expect(await asked({ pay: { inputSchema: {} } })).toBe('not-applicable');
});
