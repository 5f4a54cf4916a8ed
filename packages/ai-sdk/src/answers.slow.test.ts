/** Answers of people to the questions of the AI SDK, and the ledger's own. */
import { convertToModelMessages, type UIMessage } from 'ai';
import { describe, expect, test } from 'vitest';
import {
  answering,
  decide,
  generated,
  named,
  pay,
  runOf,
  streamedWay,
} from '../../../tests/support/ai-runs.ts';
import { assizeAnswers } from './index.ts';

const large = pay('c1', 'bob', 500);

describe.each([
  ['generateText', generated],
  ['streamText', streamedWay],
] as const)('%s', (_, way) => {
  test.each([
    ['null', null],
    ['a text', 'approve'],
    ['a number', 1],
    ['missing', undefined],
  ])('an answer that is %s approves nothing', async (_name, approved) => {
    const it = await runOf(way, named);
    const first = await it.start([large]);
    // The SDK refuses such messages itself, or the ledger is asked again.
    await it.resume(answering(first, approved)).catch(() => undefined);
    expect(it.made).toEqual([]);
    const { waiting } = await assizeAnswers(it.tools, answering(first, approved));
    expect(waiting).toHaveLength(1);
    expect(await it.gate.port.shown(waiting[0]!.approval)).toBeDefined();
  });

  test('an answer without a person does not count, even if a person comes later', async () => {
    let person: string | undefined;
    const it = await runOf(way, { approver: () => person });
    const first = await it.start([large]);
    const approved = answering(first, true);
    for (const by of [undefined, '', 5 as never, null as never]) {
      person = by;
      await expect(it.resume(approved)).rejects.toMatchObject({ code: 'call_pending' });
    }
    expect(it.made).toEqual([]);
    person = 'manager:grace';
    expect((await it.resume(approved)).told).toMatchObject({ c1: { value: 'paid bob' } });
    expect(it.made).toHaveLength(1);
  });

  test('a named person’s rejection is recorded; a later approval is ignored', async () => {
    const it = await runOf(way, named);
    const first = await it.start([large]);
    const rejected = answering(first, false, 'too much');
    const { waiting, messages } = await assizeAnswers(it.tools, rejected);
    expect(waiting).toEqual([]);
    const denied = {
      c1: { type: 'execution-denied', reason: expect.stringContaining('too much') },
    };
    expect((await it.resume(messages)).told).toMatchObject(denied);
    expect((await (await it.copy()).resume(answering(first, true))).told).toMatchObject(denied);
    expect(it.made).toEqual([]);
  });

  test('a rejection without a person decides nothing', async () => {
    const it = await runOf(way);
    const first = await it.start([large]);
    expect((await assizeAnswers(it.tools, answering(first, false))).waiting).toHaveLength(1);
    await decide(it, large, 'approve');
    const { waiting, messages } = await assizeAnswers(it.tools, answering(first, false));
    expect(waiting).toEqual([]);
    expect((await it.resume(messages)).told).toMatchObject({ c1: { value: 'paid bob' } });
  });

  test('a call that was decided in the console needs no answer', async () => {
    const it = await runOf(way);
    const other = pay('c2', 'eve', 900);
    const first = await it.start([pay('c0', 'ann', 5), large, other]);
    const before = await assizeAnswers(it.tools, first.messages);
    expect(before).toMatchObject({
      waiting: [
        {
          id: 'c1',
          tool: 'pay',
          args: large.args,
          digest: first.asks[0]!.digest,
          reason: expect.any(String),
        },
        { id: 'c2' },
      ],
    });
    const waits = { type: 'text', value: expect.stringContaining('waits for a person') };
    expect((await it.resume(before.messages)).told).toMatchObject({
      c0: { value: 'paid ann' },
      c1: waits,
      c2: waits,
    });
    await decide(it, large, 'approve');
    expect((await assizeAnswers(it.tools, first.messages)).waiting).toMatchObject([{ id: 'c2' }]);
    await decide(it, other, 'reject');
    const { waiting, messages } = await assizeAnswers(it.tools, first.messages);
    expect(waiting).toEqual([]);
    expect((await it.resume(messages)).told).toMatchObject({
      c0: { value: 'paid ann' },
      c1: { value: 'paid bob' },
      c2: { type: 'execution-denied', reason: expect.stringContaining('rejected') },
    });
    expect(it.made).toEqual([{ to: 'ann', cents: 5 }, large.args]);
  });

  test('the program names the person by the answer, the call and its place', async () => {
    const seen: unknown[] = [];
    const it = await runOf(way, {
      approver: (response, held, { toolCallId, messages }) => {
        seen.push([response, held, toolCallId, messages.length]);
        return 'manager:grace';
      },
    });
    const first = await it.start([large]);
    await it.resume(answering(first, true, 'fine'));
    expect(seen).toMatchObject([
      [
        { approved: true, reason: 'fine' },
        { run: 'r1', id: 'c1', tool: 'pay', args: large.args },
        'c1',
        3,
      ],
    ]);
  });

  test('the messages of a chat in a browser carry the answer', async () => {
    const it = await runOf(way, named);
    const first = await it.start([large]);
    const part = {
      ...{ type: 'tool-pay', toolCallId: 'c1', input: large.args, state: 'approval-responded' },
      approval: { id: first.asks[0]!.approvalId, approved: true, reason: 'fine' },
    };
    const chat = [
      { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] },
      { id: 'm2', role: 'assistant', parts: [part] },
    ] as unknown as UIMessage[];
    const { waiting, messages } = await assizeAnswers(it.tools, await convertToModelMessages(chat));
    expect(waiting).toEqual([]);
    expect((await it.resume(messages)).told).toMatchObject({ c1: { value: 'paid bob' } });
    expect(it.made).toHaveLength(1);
  });

  test.each([
    ['before', 'approve', { value: 'paid bob' }],
    ['after', 'approve', { value: 'paid bob' }],
    ['before', 'reject', { type: 'execution-denied', reason: expect.stringContaining('rejected') }],
  ] as const)('the user writes on %s the ledger is asked: %s', async (when, decision, end) => {
    const it = await runOf(way);
    const first = await it.start([pay('c0', 'ann', 5), large]);
    const question = { role: 'user', content: 'Is it paid by now?' } as const;
    const told =
      when === 'after'
        ? [...(await assizeAnswers(it.tools, first.messages)).messages, question]
        : (await assizeAnswers(it.tools, [...first.messages, question])).messages;
    const second = await it.resume(told);
    const waits = { type: 'text', value: expect.stringContaining('waits for a person') };
    expect(second.told).toMatchObject({ c0: { value: 'paid ann' }, c1: waits });
    expect(it.made).toHaveLength(1);
    await decide(it, large, decision);
    // From the messages of either side: a client may not keep the interim result.
    for (const messages of [second.messages, [...first.messages, question], second.messages]) {
      const answers = await assizeAnswers((await it.copy()).tools, [...messages, question]);
      expect(answers.waiting).toEqual([]);
      expect((await it.resume(answers.messages)).told).toMatchObject({ c1: end });
      expect((await assizeAnswers(it.tools, answers.messages)).messages).toEqual(answers.messages);
    }
    expect(it.made).toHaveLength(decision === 'approve' ? 2 : 1);
  });

  test('while one of two calls waits, the other one is made', async () => {
    const it = await runOf(way);
    const other = pay('c2', 'eve', 900);
    const first = await it.start([large, other]);
    await decide(it, large, 'approve');
    const before = await assizeAnswers(it.tools, first.messages);
    expect(before.waiting).toMatchObject([{ id: 'c2' }]);
    const second = await it.resume(before.messages);
    expect(second.told).toMatchObject({ c1: { value: 'paid bob' }, c2: { type: 'text' } });
    await decide(it, other, 'approve');
    const { messages } = await assizeAnswers(it.tools, second.messages);
    expect((await it.resume(messages)).told).toMatchObject({
      c1: { value: 'paid bob' },
      c2: { value: 'paid eve' },
    });
    expect(it.made).toEqual([large.args, other.args]);
  });

  test('a call that fails after the user wrote on is reported as failed, once', async () => {
    const it = await runOf(way, {
      pays: () => {
        throw new Error('no such account');
      },
    });
    const first = await it.start([large]);
    await decide(it, large, 'approve');
    const asked = [...first.messages, { role: 'user', content: 'And?' } as const];
    for (const _again of [1, 2])
      expect((await it.resume((await assizeAnswers(it.tools, asked)).messages)).told).toMatchObject(
        {
          c1: { type: 'error-text', value: expect.stringContaining('no such account') },
        },
      );
    expect(it.made).toHaveLength(1);
  });

  test('a call in doubt after the user wrote on stays so until it is settled', async () => {
    const it = await runOf(way, {
      pays: () => {
        throw Object.assign(new Error('cut'), { code: 'ECONNRESET' });
      },
    });
    const first = await it.start([large]);
    await decide(it, large, 'approve');
    const asked = [...first.messages, { role: 'user', content: 'And?' } as const];
    const { messages } = await assizeAnswers(it.tools, asked);
    expect((await it.resume(messages)).told).toMatchObject({ c1: { type: 'error-text' } });
    await it.gate.port.report('r1.c1', { outcome: 'done', result: { value: 'paid bob' } });
    expect(
      (await it.resume((await assizeAnswers(it.tools, messages)).messages)).told,
    ).toMatchObject({
      c1: { value: 'paid bob' },
    });
    expect(it.made).toHaveLength(1);
  });

  test('a run of several turns keeps the calls of earlier ones', async () => {
    const it = await runOf(way, named);
    const done = await it.resume(answering(await it.start([large]), true));
    const more = await it
      .resume([...done.messages, { role: 'user', content: 'thanks' }])
      .catch((error) => error);
    expect(more).not.toBeInstanceOf(Error);
    expect((await assizeAnswers(it.tools, done.messages)).messages).toEqual(done.messages);
    expect(it.made).toHaveLength(1);
  });
});
