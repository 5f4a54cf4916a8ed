/** Runs of Mastra that are resumed twice, retried, sent back in time or tampered with. */
import { describe, expect, test } from 'vitest';
import { hasMastra } from '../../../tests/support/mastra/packages.ts';
import { answerTo } from '../src/index.ts';
import { decide } from './support/decide.ts';
import {
  agentKind,
  endOfWorkflow,
  named,
  pay,
  type Run,
  runOf,
  workflowKind,
} from './support/mastra-runs.ts';

/** Sends the workflow of a run back to its step. */
async function back(it: Run, inputData?: object) {
  const run = await it.mastra.getWorkflow('pays').createRun({ runId: it.runId });
  return endOfWorkflow(
    await run.timeTravel({ step: 'pay', ...(inputData !== undefined && { inputData }) }),
  );
}

describe.skipIf(!hasMastra)('Mastra (absent without npm ci --prefix peers)', () => {
  describe.each([
    ['an agent', agentKind],
    ['a workflow', workflowKind],
  ] as const)('%s', (_, kind) => {
    test('the same state that is resumed twice makes the call once', async () => {
      const it = await runOf(kind, named);
      const { pauses } = await it.start([pay('c1', 'bob', 500)]);
      const copy = await it.copy();
      const answer = answerTo(pauses[0]!, { decision: 'approve' });
      const one = await it.resume(answer);
      const two = await copy.resume(answer);
      expect(two.told).toEqual(one.told);
      expect(one.told).toMatchObject([{ result: { paid: 'bob' } }]);
      expect(it.made).toHaveLength(1);
    });

    test('of three processes that resume together, one makes the call', async () => {
      const it = await runOf(kind, named);
      const { pauses } = await it.start([pay('c1', 'bob', 500)]);
      const all = [it, await it.other(), await it.other()];
      const answer = answerTo(pauses[0]!, { decision: 'approve' });
      const ended = await Promise.allSettled(all.map((each) => each.resume(answer)));
      expect(it.made).toHaveLength(1);
      expect(ended.some(({ status }) => status === 'fulfilled')).toBe(true);
    });

    test('changed arguments in the stored state are never made', async () => {
      const it = await runOf(kind, named);
      const { pauses } = await it.start([pay('c1', 'bob', 500)]);
      expect(it.tamper('"cents":500', '"cents":900')).toBeGreaterThan(0);
      const { told, pauses: others } = await it.resume(
        answerTo(pauses[0]!, { decision: 'approve' }),
      );
      // A step of a workflow with other arguments is another call, with its own approval.
      if (kind === workflowKind) expect(others).toMatchObject([{ args: { cents: 900 } }]);
      else expect(told).toMatchObject([{ error: expect.stringContaining('other arguments') }]);
      expect(it.made).toEqual([]);
    });

    test('a call that was approved is not the approval of another one', async () => {
      const it = await runOf(kind, named);
      const { pauses } = await it.start([pay('c1', 'bob', 500)]);
      await decide(it.gate, pauses[0]!, 'approve');
      const other = await it.start([pay('c1', 'bob', 500)]);
      expect(other.pauses).toHaveLength(1);
      const reused = await it.resume(answerTo(pauses[0]!, { decision: 'approve' }));
      expect(reused.pauses).toEqual(other.pauses);
      expect(it.made).toEqual([]);
    });

    test('the other process resumes after a restart', async () => {
      const it = await runOf(kind);
      const { pauses } = await it.start([pay('c1', 'bob', 500)]);
      await decide(it.gate, pauses[0]!, 'approve');
      const { told } = await (await it.other()).resume({});
      expect(told).toMatchObject([{ result: { paid: 'bob' } }]);
      expect(it.made).toHaveLength(1);
    });

    test('an entry of a call leads to its run', async () => {
      const it = await runOf(kind);
      await it.start([pay('c1', 'bob', 5)]);
      const place = kind === agentKind ? { agent: 'payer', tool_call: 'c1' } : { workflow: 'pays' };
      expect(await it.observations()).toContainEqual({ run: it.runId, ...place });
    });
  });

  test('siblings of a held call are made once, whatever is resumed', async () => {
    const it = await runOf(agentKind, named);
    const { pauses } = await it.start([
      pay('c1', 'ann', 5),
      pay('c2', 'bob', 500),
      pay('c3', 'eve', 7),
    ]);
    expect(pauses).toHaveLength(1);
    expect(it.made.map(({ to }) => to).sort()).toEqual(['ann', 'eve']);
    const copy = await it.copy();
    const answer = answerTo(pauses[0]!, { decision: 'approve' });
    const { told } = await it.resume(answer);
    const results = [
      { result: { paid: 'ann' } },
      { result: { paid: 'bob' } },
      { result: { paid: 'eve' } },
    ];
    expect(told).toMatchObject(results);
    expect((await copy.resume(answer)).told).toMatchObject(results);
    expect(it.made).toHaveLength(3);
  });

  test('an answer about one call does not count for its sibling', async () => {
    const it = await runOf(agentKind, named);
    const first = await it.start([pay('c1', 'bob', 500), pay('c2', 'eve', 900)]);
    expect(first.pauses).toHaveLength(2);
    const [bob, eve] = ['bob', 'eve'].map(
      (to) => first.pauses.find(({ args }) => args['to'] === to)!,
    );
    // Mastra gives an answer without the id of a call to each call that waits.
    const answer = answerTo(bob!, { decision: 'approve' });
    expect((await it.resume(answer)).pauses).toEqual([eve]);
    expect((await it.resume(answer)).pauses).toEqual([eve]);
    // An answer under the id of another call does not count either.
    expect((await it.resume(answer, { toolCallId: 'c2' })).pauses).toEqual([eve]);
    expect(it.made).toEqual([{ to: 'bob', cents: 500 }]);
    const { told } = await it.resume(answerTo(eve!, { decision: 'approve' }), { toolCallId: 'c2' });
    expect(told).toMatchObject([{ result: { paid: 'bob' } }, { result: { paid: 'eve' } }]);
    expect(it.made).toHaveLength(2);
  });

  test('a workflow that travels back in time gets the recorded result', async () => {
    const it = await runOf(workflowKind, named);
    const { pauses } = await it.start([pay('c1', 'bob', 500)]);
    await it.resume(answerTo(pauses[0]!, { decision: 'approve' }));
    expect((await back(it)).told).toMatchObject([{ result: { paid: 'bob' } }]);
    // With another input, the step makes another call.
    expect((await back(it, { to: 'bob', cents: 600 })).pauses).toHaveLength(1);
    expect(it.made).toHaveLength(1);
  });

  test('a call that failed is reported, and is not made again', async () => {
    const it = await runOf(workflowKind, {
      pays: () => {
        throw new Error('no money');
      },
    });
    expect((await it.start([pay('c1', 'bob', 5)])).told).toMatchObject([
      { error: expect.stringContaining('no money') },
    ]);
    expect((await back(it)).told).toMatchObject([{ error: expect.stringContaining('no money') }]);
    expect(it.made).toHaveLength(1);
  });

  test('a tool that may be called again is made again after a failure', async () => {
    let fails = true;
    const it = await runOf(workflowKind, {
      idempotent: ['pay'],
      pays: () => {
        if (fails) throw new Error('no money');
        return { paid: 'bob' };
      },
    });
    await it.start([pay('c1', 'bob', 5)]);
    fails = false;
    expect((await back(it)).told).toMatchObject([{ result: { paid: 'bob' } }]);
    expect(it.made).toHaveLength(2);
  });

  test('a call that timed out is in doubt, and is not made again', async () => {
    const it = await runOf(workflowKind, {
      pays: () => {
        throw new DOMException('too slow', 'TimeoutError');
      },
    });
    expect((await it.start([pay('c1', 'bob', 5)])).told).toMatchObject([
      { error: expect.stringContaining('calls.settle') },
    ]);
    expect((await back(it)).told).toMatchObject([
      { error: expect.stringContaining('calls.settle') },
    ]);
    expect(it.made).toHaveLength(1);
  });

  test('a call whose process ends before its outcome is in doubt', async () => {
    const it = await runOf(workflowKind);
    it.gate.port.report = () => Promise.reject(new Error('the process has ended'));
    await it.start([pay('c1', 'bob', 5)]);
    const other = await it.other();
    expect((await back(other)).told).toMatchObject([
      { error: expect.stringContaining('calls.settle') },
    ]);
    expect(it.made).toHaveLength(1);
  });
});
