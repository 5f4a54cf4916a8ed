/** Threads in which the user writes on while a call waits for a person. */
import { describe, expect, test } from 'vitest';
import { agent, bareGraph, decide, pay, runOf } from '../../../tests/support/langchain-runs.ts';

const large = pay('c1', 'bob', 500);

describe.each([
  ['an agent', agent],
  ['a graph of nodes', bareGraph],
] as const)('%s', (_, make) => {
  test.each([
    ['approve', { content: 'paid bob' }],
    ['reject', { status: 'error', content: expect.stringContaining('rejected') }],
  ] as const)('a call that waits goes on after the decision to %s', async (decision, end) => {
    const it = await runOf(make);
    const { pauses } = await it.start([pay('c0', 'ann', 5), large]);
    // The user writes on, and the model has no other call.
    expect((await it.start([])).pauses).toEqual([]);
    expect(it.asked.at(-1)).toMatchObject([
      { type: 'human' },
      { type: 'ai' },
      { tool_call_id: 'c0', content: 'paid ann' },
      { tool_call_id: 'c1', content: expect.stringContaining('waits for a person') },
      { type: 'human' },
    ]);
    await decide(it, pauses[0]!, decision);
    for (const again of [it, it, await it.copy()]) {
      await again.start([]);
      expect(again.asked.at(-1)!.slice(2, 4)).toMatchObject([
        { content: 'paid ann' },
        { tool_call_id: 'c1', ...end },
      ]);
    }
    expect(it.made).toEqual([
      { to: 'ann', cents: 5 },
      ...(decision === 'approve' ? [large.args] : []),
    ]);
  });

  test('a call that fails after the decision is reported as failed, once made', async () => {
    const it = await runOf(make, {
      pays: () => {
        throw new Error('no such account');
      },
    });
    const { pauses } = await it.start([large]);
    await decide(it, pauses[0]!, 'approve');
    for (const _again of [1, 2]) {
      await it.start([]);
      const failed = { status: 'error', content: expect.stringContaining('no such account') };
      expect(it.asked.at(-1)!.slice(1)).toMatchObject([
        { type: 'ai' },
        failed,
        ...it.asked.at(-1)!.slice(3),
      ]);
    }
    expect(it.made).toHaveLength(1);
  });

  test('a call in doubt is reported as such', async () => {
    const it = await runOf(make, {
      pays: () => {
        throw Object.assign(new Error('cut'), { code: 'ECONNRESET' });
      },
    });
    const { pauses } = await it.start([large]);
    await decide(it, pauses[0]!, 'approve');
    await it.start([]);
    expect(it.asked.at(-1)![2]).toMatchObject({
      status: 'error',
      content: expect.stringContaining('not made again'),
    });
    await it.gate.port.report('t1.c1', {
      outcome: 'failed',
      result: { error: { message: 'refused' } },
    });
    await it.start([]);
    expect(it.asked.at(-1)![2]).toMatchObject({
      status: 'error',
      content: expect.stringContaining('refused'),
    });
    expect(it.made).toHaveLength(1);
  });
});
