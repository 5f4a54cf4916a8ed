/** Conversations in which the user writes on while a call waits for a person. */
import type { AgentInputItem, RunState } from '@openai/agents';
import { assistantMessage } from '@openai/agents/testing';
import { expect, test } from 'vitest';
import {
  type Desk,
  decide,
  deskOf,
  type Ended,
  pay,
} from '../../../tests/support/openai-agents-runs.ts';
import { assizeAnswers } from './index.ts';

const context = { runId: 'r1' };

/** A run that goes on with another message, as a chat does. */
async function written(
  it: Desk,
  from: RunState<any, any> | readonly AgentInputItem[],
): Promise<Ended & { items: AgentInputItem[] }> {
  const answers = await assizeAnswers([it.pay], from, context);
  const input = [...answers.items, { role: 'user', content: 'And?' } as const];
  const plain = it.plan([assistantMessage('bye') as never]);
  const result = await plain.run(input as never, { context });
  return { ...(await it.ended(result)), items: result.history };
}

test.each([
  ['approve', 'paid bob'],
  ['reject', expect.stringContaining('rejected')],
] as const)('a call that waits goes on after the decision to %s', async (decision, text) => {
  const it = await deskOf();
  const first = await it.start([pay('c0', 'ann', 5), pay('c1', 'bob', 500)]);
  const second = await written(it, first.state);
  expect(Object.fromEntries(second.told)).toEqual({
    c0: 'paid ann',
    c1: expect.stringContaining('waits for a person'),
  });
  await decide(it, first.held[0]!, decision);
  // From the items of either run, and in another process.
  for (const items of [second.items, first.state]) {
    const { told, items: all } = await written(await it.copy(), items);
    expect(Object.fromEntries(told)).toEqual({ c0: 'paid ann', c1: text });
    expect((await assizeAnswers([it.pay], all, context)).items).toEqual(all);
  }
  expect(it.made).toHaveLength(decision === 'approve' ? 2 : 1);
});

test('a call that fails is reported as failed, once made', async () => {
  const it = await deskOf({
    pays: () => {
      throw new Error('no such account');
    },
  });
  const first = await it.start([pay('c1', 'bob', 500)]);
  await decide(it, first.held[0]!, 'approve');
  for (const _again of [1, 2])
    expect((await written(it, first.state)).told).toEqual([
      ['c1', expect.stringContaining('error occurred')],
    ]);
  expect(it.made).toHaveLength(1);
});

test('a call in doubt is reported as such until it is settled', async () => {
  const it = await deskOf({
    tool: { errorFunction: null },
    pays: () => {
      throw Object.assign(new Error('cut'), { code: 'ECONNRESET' });
    },
  });
  const first = await it.start([pay('c1', 'bob', 500)]);
  await decide(it, first.held[0]!, 'approve');
  const second = await written(it, first.state);
  expect(second.told).toEqual([['c1', expect.stringContaining('not known')]]);
  await it.gate.port.report('r1.c1', {
    outcome: 'done',
    result: { value: { output: 'paid bob' } },
  });
  expect((await written(it, second.items)).told).toEqual([['c1', 'paid bob']]);
  expect(it.made).toHaveLength(1);
});
