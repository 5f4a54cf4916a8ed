/** Answers to suspended calls of Mastra. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, test } from 'vitest';
import { hasMastra } from '../../../tests/support/mastra/packages.ts';
import { type AssizeSuspension, answerTo } from '../src/index.ts';
import { decide } from './support/decide.ts';
import { agentKind, endOfStream, named, pay, runOf, workflowKind } from './support/mastra-runs.ts';

const wrongly = ({ assize }: AssizeSuspension, more: object) => ({
  decision: 'approve',
  assize: { ...assize, ...more },
});

describe.skipIf(!hasMastra)('Mastra (absent without npm ci --prefix peers)', () => {
  describe.each([
    ['an agent', agentKind],
    ['a workflow', workflowKind],
  ] as const)('%s', (_, kind) => {
    test.each<[string, (pause: AssizeSuspension) => unknown]>([
      ['null', () => null],
      ['a text', () => 'approve'],
      ['without a name', () => ({ decision: 'approve' })],
      ['the word of Mastra', () => ({ approved: true })],
      ['the word of Mastra with a name', ({ assize }) => ({ approved: true, assize })],
      ['without a decision', ({ assize }) => ({ assize })],
      ['of another word', ({ assize }) => ({ decision: 'approved', assize })],
      ['of true', ({ assize }) => ({ decision: true, assize })],
      ['about another call', (pause) => wrongly(pause, { call: 'another' })],
      ['about another question', (pause) => wrongly(pause, { approval: 'a'.repeat(64) })],
      ['about another content', (pause) => wrongly(pause, { digest: '0'.repeat(64) })],
    ])(
      'an answer that is %s approves nothing, and the pause is repeated',
      async (_name, answer) => {
        const it = await runOf(kind, named);
        const { pauses } = await it.start([pay('c1', 'bob', 500)]);
        const again = await it.resume(answer(pauses[0]!));
        expect(again.pauses).toEqual(pauses);
        expect(it.made).toEqual([]);
        // A later answer counts.
        const { told } = await it.resume(answerTo(again.pauses[0]!, { decision: 'approve' }));
        expect(told).toMatchObject([{ result: { paid: 'bob' } }]);
        expect(it.made).toHaveLength(1);
      },
    );

    test('an answer without a person does not count, even if a person comes later', async () => {
      let person: string | undefined;
      const it = await runOf(kind, { approver: () => person });
      const { pauses } = await it.start([pay('c1', 'bob', 500)]);
      await it.resume(answerTo(pauses[0]!, { decision: 'approve' }));
      person = 'manager:grace';
      expect((await it.resume({})).pauses).toEqual(pauses);
      expect(it.made).toEqual([]);
    });

    test('an answer of a person without the right pauses again, and says why', async () => {
      let person = 'guest:mallory';
      const it = await runOf(kind, { approver: () => person });
      const { pauses } = await it.start([pay('c1', 'bob', 500)]);
      const answer = answerTo(pauses[0]!, { decision: 'approve' });
      const again = await it.resume(answer);
      expect(again.pauses).toMatchObject([
        { assize: pauses[0]!.assize, message: expect.stringContaining('mallory') },
      ]);
      person = 'manager:grace';
      expect((await it.resume(answer)).told).toMatchObject([{ result: { paid: 'bob' } }]);
      expect(it.made).toHaveLength(1);
    });

    test('a rejection is an error with its reason; a later approval is ignored', async () => {
      const it = await runOf(kind, named);
      const { pauses } = await it.start([pay('c1', 'bob', 500)]);
      const copy = await it.copy();
      const { told } = await it.resume(
        answerTo(pauses[0]!, { decision: 'reject', reason: 'too much' }),
      );
      expect(told).toMatchObject([{ error: expect.stringContaining('too much') }]);
      const after = await copy.resume(answerTo(pauses[0]!, { decision: 'approve' }));
      expect(after.told).toMatchObject([{ error: expect.stringContaining('too much') }]);
      expect(it.made).toEqual([]);
    });

    test('the program names the person of the request that resumes', async () => {
      const deciding = new AsyncLocalStorage<string>();
      const seen: unknown[] = [];
      const it = await runOf(kind, {
        approver: (answer, held) => {
          seen.push([answer, held]);
          return deciding.getStore();
        },
      });
      const { pauses } = await it.start([pay('c1', 'bob', 500)]);
      const answer = answerTo(pauses[0]!, { decision: 'approve' });
      expect((await it.resume(answer)).pauses).toEqual(pauses);
      const { told } = await deciding.run('manager:grace', () => it.resume(answer));
      expect(told).toMatchObject([{ result: { paid: 'bob' } }]);
      expect(seen).toMatchObject([
        [answer, { run: it.runId, tool: 'pay', args: { to: 'bob', cents: 500 } }],
        [answer, {}],
      ]);
    });

    test('the request context of a resume is the one of the first request', async () => {
      const seen: unknown[] = [];
      const it = await runOf(kind, {
        approver: (_answer, _held, { requestContext }) => {
          seen.push(requestContext?.get('user'));
          return undefined;
        },
      });
      const requestContext = new it.packages.RequestContext();
      requestContext.set('user', 'clerk:bob');
      const { pauses } = await it.start([pay('c1', 'bob', 500)], { requestContext });
      // So it does not prove the person of an answer.
      await it.resume(answerTo(pauses[0]!, { decision: 'approve' }));
      expect(seen).toEqual(['clerk:bob']);
    });

    test('an expired question is a refusal', async () => {
      const it = await runOf(kind, { ...named, timeoutMs: 600 });
      const { pauses } = await it.start([pay('c1', 'bob', 500)]);
      await new Promise((resolve) => setTimeout(resolve, 700));
      const { told } = await it.resume(answerTo(pauses[0]!, { decision: 'approve' }));
      expect(told).toMatchObject([{ error: expect.stringContaining('refused') }]);
      expect(it.made).toEqual([]);
    });
  });

  test('an answer that the model writes itself approves nothing', async () => {
    const it = await runOf(agentKind, named);
    const written = { decision: 'approve', assize: { call: 'x', approval: 'y', digest: 'z' } };
    const call = (id: string, resumeData: object) => [
      { id, tool: 'pay', args: { to: 'bob', cents: 500, resumeData } },
    ];
    const { pauses } = await it.start(call('c1', written));
    expect(pauses).toMatchObject([{ args: { to: 'bob', cents: 500 } }]);
    // Also one that knows an earlier pause: it is not about the new call.
    const second = await it.start(call('c2', answerTo(pauses[0]!, { decision: 'approve' })));
    expect(second.pauses).toHaveLength(1);
    expect(it.made).toEqual([]);
    await decide(it.gate, second.pauses[0]!, 'approve');
    expect((await it.resume({})).told).toMatchObject([{ id: 'c2', result: { paid: 'bob' } }]);
    expect(it.made).toHaveLength(1);
  });

  test('the approval of Mastra itself makes the ledger be asked again', async () => {
    const it = await runOf(agentKind, named);
    const { pauses } = await it.start([pay('c1', 'bob', 500)]);
    const { runId } = it;
    const again = await endOfStream(await it.agent.approveToolCall({ runId, toolCallId: 'c1' }));
    expect(again.pauses).toEqual(pauses);
    expect(it.made).toEqual([]);
    await decide(it.gate, pauses[0]!, 'approve');
    const { told } = await endOfStream(await it.agent.approveToolCall({ runId, toolCallId: 'c1' }));
    expect(told).toMatchObject([{ result: { paid: 'bob' } }]);
  });

  test('a run without a stream is suspended and resumed alike', async () => {
    const it = await runOf(agentKind, named);
    await it.start([pay('c1', 'ann', 5)]);
    const { runId, finishReason } = await (await it.copy()).agent.generate('go', {});
    expect([finishReason, it.made.length]).toEqual(['stop', 2]);
    expect(runId).not.toBe(it.runId);
    const held = await runOf(agentKind, named);
    await held.start([pay('c1', 'bob', 500)]);
    const copy = await held.copy();
    const suspended = await copy.agent.generate('go', {});
    expect(suspended.finishReason).toBe('suspended');
    const { runs } = await copy.agent.listSuspendedRuns();
    const found = runs.find((run) => run.runId === suspended.runId)?.toolCalls[0]?.suspendPayload;
    expect(found).toMatchObject({ args: { to: 'bob', cents: 500 } });
    const answer = answerTo(found as AssizeSuspension, { decision: 'approve' });
    const ended = await copy.agent.resumeGenerate(answer, { runId: suspended.runId });
    expect([ended.finishReason, held.made.length]).toEqual(['stop', 1]);
  });
});
