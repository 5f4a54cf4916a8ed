/** Tool calls of agents and graphs of LangChain, through the gate. */
import { describe, expect, test } from 'vitest';
import {
  agent,
  bareGraph,
  decide,
  named,
  pay,
  runOf,
} from '../../../tests/support/langchain-runs.ts';
import { answerTo } from './index.ts';

describe.each([
  ['an agent', agent],
  ['a graph with a ToolNode', bareGraph],
] as const)('%s', (_, make) => {
  test('an allowed call is made, and the model learns of a refused one', async () => {
    const it = await runOf(make);
    const { told } = await it.start([pay('c1', 'bob', 5), pay('c2', 'mallory', 5)]);
    expect(told).toMatchObject([
      { tool_call_id: 'c1', content: 'paid bob' },
      { tool_call_id: 'c2', status: 'error', content: expect.stringContaining('never') },
    ]);
    expect(it.made).toEqual([{ to: 'bob', cents: 5 }]);
  });

  test('a held call pauses, and is made once after a decision there', async () => {
    const it = await runOf(make);
    const { pauses } = await it.start([pay('c1', 'bob', 500)]);
    expect(pauses).toMatchObject([
      {
        value: {
          actionRequests: [{ name: 'pay', args: { to: 'bob', cents: 500 } }],
          reviewConfigs: [{ actionName: 'pay' }],
          assize: { reason: expect.stringContaining('large'), digest: expect.any(String) },
        },
      },
    ]);
    expect(it.made).toEqual([]);
    // The word of the framework is not enough.
    const again = await it.resume({ decisions: [{ type: 'approve' }] });
    expect(again.pauses).toHaveLength(1);
    expect(it.made).toEqual([]);
    await decide(it, pauses[0]!, 'approve');
    const { told } = await it.resume({ decisions: [{ type: 'approve' }] });
    expect(told).toMatchObject([{ content: 'paid bob' }]);
    expect(it.made).toEqual([{ to: 'bob', cents: 500 }]);
  });

  test('a call that a named person approved in the answer is made', async () => {
    const it = await runOf(make, named);
    const { pauses } = await it.start([pay('c1', 'bob', 500)]);
    const { told } = await it.resume(answerTo(pauses[0]!, { type: 'approve' }));
    expect(told).toMatchObject([{ content: 'paid bob' }]);
    expect(it.made).toHaveLength(1);
  });
});
