/** Runs of LangChain that are resumed twice, retried, forked or tampered with. */
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
  test('the same checkpoint that is resumed twice makes the call once', async () => {
    const it = await runOf(make, named);
    const { pauses } = await it.start([pay('c1', 'bob', 500)]);
    const copy = await it.copy();
    const answer = answerTo(pauses[0]!, { type: 'approve' });
    const one = await it.resume(answer);
    const two = await copy.resume(answer);
    expect(two.told).toMatchObject([{ content: one.told[0]!.content, tool_call_id: 'c1' }]);
    expect(it.made).toHaveLength(1);
  });

  test('of two processes that resume together, one makes the call', async () => {
    const it = await runOf(make, named);
    const { pauses } = await it.start([pay('c1', 'bob', 500)]);
    const copies = [it, await it.copy(), await it.copy()];
    const answer = answerTo(pauses[0]!, { type: 'approve' });
    const ended = await Promise.allSettled(copies.map((copy) => copy.resume(answer)));
    expect(it.made).toHaveLength(1);
    expect(ended.some(({ status }) => status === 'fulfilled')).toBe(true);
  });

  test('a sibling of a held call is made once, whatever is resumed', async () => {
    const it = await runOf(make, named);
    const { pauses } = await it.start([pay('c1', 'ann', 5), pay('c2', 'bob', 500)]);
    const copy = await it.copy();
    const answer = answerTo(pauses[0]!, { type: 'approve' });
    const { told } = await it.resume(answer);
    expect(told).toMatchObject([{ content: 'paid ann' }, { content: 'paid bob' }]);
    await copy.resume(answer);
    expect(it.made.map(({ to }) => to).sort()).toEqual(['ann', 'bob']);
  });

  test('changed arguments in the stored state are refused', async () => {
    const it = await runOf(make, named);
    const { pauses } = await it.start([pay('c1', 'bob', 500)]);
    it.tamper('"cents":500', '"cents":900');
    const { told } = await it.resume(answerTo(pauses[0]!, { type: 'approve' }));
    expect(told).toMatchObject([
      { status: 'error', content: expect.stringContaining('other arguments') },
    ]);
    expect(it.made).toEqual([]);
  });

  test('a fork from before the calls gets their recorded results', async () => {
    const it = await runOf(make, named);
    const { pauses } = await it.start([pay('c1', 'ann', 5), pay('c2', 'bob', 500)]);
    await it.resume(answerTo(pauses[0]!, { type: 'approve' }));
    const { told } = await it.resume(undefined, await it.before('tools'));
    expect(told).toMatchObject([{ content: 'paid ann' }, { content: 'paid bob' }]);
    expect(it.made).toHaveLength(2);
  });

  test('a fork to another thread or with other ids is judged again', async () => {
    const it = await runOf(make);
    await it.start([pay('c1', 'bob', 50)]);
    await it.start([pay('c1', 'bob', 50)], { thread_id: 't2' });
    await it.start([pay('c2', 'bob', 500)]);
    expect(it.made).toHaveLength(2);
  });

  test('a call that was approved is not the approval of another one', async () => {
    const it = await runOf(make, named);
    const { pauses } = await it.start([pay('c1', 'bob', 500)]);
    await decide(it, pauses[0]!, 'approve');
    const other = await it.start([pay('c2', 'bob', 500)], { thread_id: 't2' });
    expect(other.pauses).toHaveLength(1);
    const reused = await it.resume(
      { [other.pauses[0]!.id]: Object.values(answerTo(pauses[0]!, { type: 'approve' }))[0] },
      { thread_id: 't2' },
    );
    expect(reused.pauses).toHaveLength(1);
    expect(it.made).toEqual([]);
  });

  test('a call that failed is reported, and is not made again', async () => {
    const it = await runOf(make, {
      pays: () => {
        throw new Error('no money');
      },
    });
    const { told } = await it.start([pay('c1', 'bob', 5)]);
    expect(told).toMatchObject([{ status: 'error', content: expect.stringContaining('no money') }]);
    const again = await it.resume(undefined, await it.before('tools'));
    expect(again.told).toMatchObject([
      { status: 'error', content: expect.stringContaining('no money') },
    ]);
    expect(it.made).toHaveLength(1);
  });

  test('a tool that may be called again is made again after a failure', async () => {
    let fails = true;
    const it = await runOf(make, {
      idempotent: ['pay'],
      pays: () => {
        if (fails) throw new Error('no money');
        return 'paid';
      },
    });
    await it.start([pay('c1', 'bob', 5)]);
    fails = false;
    const again = await it.resume(undefined, await it.before('tools'));
    expect(again.told).toMatchObject([{ content: 'paid' }]);
    expect(it.made).toHaveLength(2);
  });

  test('an expired question is a refusal', async () => {
    const it = await runOf(make, { ...named, timeoutMs: 50 });
    const { pauses } = await it.start([pay('c1', 'bob', 500)]);
    await new Promise((resolve) => setTimeout(resolve, 80));
    const { told } = await it.resume(answerTo(pauses[0]!, { type: 'approve' }));
    expect(told).toMatchObject([{ status: 'error', content: expect.stringContaining('refused') }]);
    expect(it.made).toEqual([]);
  });

  test('a call whose process ends before its outcome is in doubt', async () => {
    const it = await runOf(make);
    const { port } = it.gate;
    port.report = () => Promise.reject(new Error('the process has ended'));
    await it.start([pay('c1', 'bob', 5)]);
    const copy = await it.copy();
    const again = copy.resume(undefined, await it.before('tools'));
    await expect(again).rejects.toThrow('calls.settle');
    expect(it.made).toHaveLength(1);
  });

  test('an entry of a call leads to its checkpoint', async () => {
    const it = await runOf(make);
    await it.start([pay('c1', 'bob', 5)]);
    const { checkpoint_id } = await it.before('tools');
    expect(checkpoint_id).toEqual(expect.any(String));
    expect(await it.observations()).toContainEqual({
      ...{ thread_id: 't1', checkpoint_id, checkpoint_ns: '' },
      task_ns: expect.stringMatching(/^tools:/),
    });
  });
});
