/** Answers of models of the AI SDK: recorded in the oracle log, and given again. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateText, type ModelMessage, streamText, wrapLanguageModel } from 'ai';
import { type MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import { createOracle, type Oracle, systemClock } from 'assize/internal/oracle';
import { openStore } from 'assize/internal/stores';
import { expect, onTestFinished, test } from 'vitest';
import { generated, pay, runOf, scripted, streamedWay } from '../../../tests/support/ai-runs.ts';
import { recordedModel } from './index.ts';

const GO: ModelMessage[] = [{ role: 'user', content: 'go' }];

/** The oracle logs of one store: each as another process has it. */
async function logs(): Promise<(mode?: 'record' | 'replay') => Oracle> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-ai-log-'));
  const store = await openStore(`sqlite:${join(folder, 'log.db')}`);
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return (mode = 'record') => createOracle({ store, clock: systemClock, mode });
}

const asks = (model: MockLanguageModelV4) =>
  model.doGenerateCalls.length + model.doStreamCalls.length;
const wrapped = (model: MockLanguageModelV4, oracle: Oracle, run = 'r1') =>
  wrapLanguageModel({ model, middleware: recordedModel(oracle, { run }) });

test.each([
  ['generateText', generated],
  ['streamText', streamedWay],
] as const)('a run of %s that is repeated asks the model nothing', async (_, way) => {
  const log = await logs();
  const it = await runOf(way);
  const model = scripted([pay('c1', 'bob', 5)], () => `bye ${asks(model)}`);
  const run = (oracle: Oracle) =>
    way({ model: wrapped(model, oracle) as never, tools: it.tools, messages: GO }, undefined);
  const first = await run(log());
  expect(asks(model)).toBe(2);
  for (const oracle of [log(), log('replay')])
    expect((await run(oracle)).messages).toEqual(first.messages);
  expect(asks(model)).toBe(2);
  expect(it.made).toHaveLength(1);
  expect(first.messages.at(-1)?.content).toMatchObject([{ text: 'bye 2' }]);
});

test('the same question twice in one run has two answers, in their order', async () => {
  const log = await logs();
  const model = scripted([], () => `answer ${asks(model)}`);
  const ask = async (of: ReturnType<typeof wrapped>) =>
    (await generateText({ model: of, messages: GO })).text;
  const one = wrapped(model, log());
  expect([await ask(one), await ask(one)]).toEqual(['answer 1', 'answer 2']);
  const two = wrapped(model, log('replay'));
  expect([await ask(two), await ask(two)]).toEqual(['answer 1', 'answer 2']);
  await expect(ask(two)).rejects.toMatchObject({ code: 'oracle_miss' });
  expect(await ask(wrapped(model, log(), 'r2'))).toBe('answer 3');
});

test('an answer that fails is not recorded, and is asked for again', async () => {
  const log = await logs();
  const model = scripted([], () => 'hello');
  const { doGenerate } = model;
  let fails = true;
  model.doGenerate = async (options) => {
    if (fails) throw new Error('overloaded');
    return doGenerate(options);
  };
  const one = wrapped(model, log());
  const ask = (of: typeof one) => generateText({ model: of, messages: GO, maxRetries: 0 });
  await expect(ask(one)).rejects.toThrow('overloaded');
  fails = false;
  expect((await ask(one)).text).toBe('hello');
  expect((await ask(wrapped(model, log('replay')))).text).toBe('hello');
});

test('headers and bodies are not recorded, and dates and files return', async () => {
  const log = await logs();
  const model = scripted([]);
  const response = {
    id: 'm1',
    timestamp: new Date(5),
    modelId: 'mock',
    headers: { 'set-cookie': 's' },
    body: 'b',
  };
  const file = {
    type: 'file',
    mediaType: 'image/png',
    data: { type: 'data', data: new Uint8Array([1, 2]) },
  } as const;
  const { doGenerate } = model;
  model.doGenerate = async (options) => ({
    ...(await doGenerate(options)),
    content: [file],
    request: { body: 'secret' },
    response,
  });
  const ask = async (oracle: Oracle) =>
    generateText({ model: wrapped(model, oracle), messages: GO, headers: { authorization: 'k' } });
  const kept: unknown[] = [];
  const { consult, mode, ask: asks } = log();
  await ask({
    ...{ consult, mode },
    ask: async (asking) => {
      const answer = await asks(asking);
      kept.push(asking.request, answer);
      return answer;
    },
  });
  const again = await ask(log('replay'));
  expect(JSON.stringify(kept)).not.toMatch(/secret|set-cookie|"k"|"b"/);
  expect(again.response).toMatchObject({ id: 'm1', timestamp: new Date(5) });
  expect(again.files[0]?.uint8Array).toEqual(new Uint8Array([1, 2]));
});

type Streamed = Awaited<ReturnType<MockLanguageModelV4['doStream']>>;
type Part = Streamed['stream'] extends ReadableStream<infer P> ? P : never;
const text = (delta: string): Part => ({ type: 'text-delta', id: 't', delta });
const call: Part = { type: 'tool-call', toolCallId: 'c1', toolName: 'pay', input: '{}' };
const finish = {
  type: 'finish',
  finishReason: { unified: 'stop', raw: undefined },
  usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
} as Part;

function streaming(chunks: readonly Part[] | (() => ReadableStream<Part>)): MockLanguageModelV4 {
  const model = scripted([]);
  model.doStream = async () => ({
    stream:
      typeof chunks === 'function'
        ? chunks()
        : simulateReadableStream({
            chunks: [...chunks],
            initialDelayInMs: null,
            chunkDelayInMs: null,
          }),
  });
  return model;
}

async function all(stream: ReadableStream<Part>): Promise<readonly Part[]> {
  const found: Part[] = [];
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read())
    found.push(next.value);
  return found;
}

const PARAMS = { prompt: [] };
const parts = async (model: MockLanguageModelV4, oracle: Oracle) => {
  const { stream } = await wrapped(model, oracle).doStream(PARAMS);
  return all(stream);
};

test('texts are shown while they come, and a call after the answer is recorded', async () => {
  const log = await logs();
  const end = Promise.withResolvers<void>();
  const source = () =>
    new ReadableStream<Part>({
      start: async (controller) => {
        for (const part of [text('a'), text('b'), call]) controller.enqueue(part);
        await end.promise;
        controller.enqueue(finish);
        controller.close();
      },
    });
  const { stream } = await wrapped(streaming(source), log()).doStream(PARAMS);
  const reader = stream.getReader();
  expect([await reader.read(), await reader.read()]).toMatchObject([
    { value: text('a') },
    { value: text('b') },
  ]);
  const held = reader.read();
  const early = await Promise.race([
    held,
    new Promise((resolve) => setTimeout(resolve, 50, 'nothing')),
  ]);
  expect(early).toBe('nothing');
  end.resolve();
  expect(await held).toMatchObject({ value: call });
  expect(await reader.read()).toMatchObject({ value: { type: 'finish' } });
  expect(await reader.read()).toMatchObject({ done: true });
  expect(await parts(streaming([]), log('replay'))).toMatchObject([
    text('a'),
    text('b'),
    call,
    { type: 'finish' },
  ]);
});

test.each([
  ['an error', [text('a'), { type: 'error', error: 'x' }, finish]],
  ['no end', [text('a'), call]],
] as [string, Part[]][])('a stream with %s is shown, and not recorded', async (_, chunks) => {
  const log = await logs();
  expect(await parts(streaming(chunks), log())).toEqual(chunks);
  await expect(parts(streaming([]), log('replay'))).rejects.toMatchObject({ code: 'oracle_miss' });
  expect(await parts(streaming([text('b'), finish]), log())).toMatchObject([
    text('b'),
    { type: 'finish' },
  ]);
});

test('a stream that its reader stops is not recorded', async () => {
  const log = await logs();
  const cancelled = Promise.withResolvers<unknown>();
  const source = () =>
    new ReadableStream<Part>({
      start: (c) => c.enqueue(text('a')),
      cancel: (reason) => cancelled.resolve(reason),
    });
  const { stream } = await wrapped(streaming(source), log()).doStream(PARAMS);
  await stream.cancel('enough');
  expect(await cancelled.promise).toBe('enough');
  await expect(parts(streaming([]), log('replay'))).rejects.toMatchObject({ code: 'oracle_miss' });
});

test('another answer that was recorded meanwhile ends the stream', async () => {
  const log = await logs();
  const end = Promise.withResolvers<void>();
  const source = () =>
    new ReadableStream<Part>({
      start: async (controller) => {
        controller.enqueue(text('a'));
        await end.promise;
        controller.enqueue(finish);
        controller.close();
      },
    });
  const { stream } = await wrapped(streaming(source), log()).doStream(PARAMS);
  await parts(streaming([text('b'), finish]), log());
  end.resolve();
  const read = all(stream);
  await expect(read).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('Another process has recorded another answer of'),
  });
});

test('a text that is streamed to the end is the recorded one', async () => {
  const log = await logs();
  const model = streaming([
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: 't' },
    text('hi'),
    { type: 'text-end', id: 't' },
    finish,
  ]);
  const said = async (oracle: Oracle) =>
    streamText({ model: wrapped(model, oracle), messages: GO }).text;
  expect([await said(log()), await said(log('replay'))]).toEqual(['hi', 'hi']);
});

test('a question with a function in it is refused', async () => {
  const log = await logs();
  const asked = wrapped(scripted([]), log()).doGenerate({
    prompt: [],
    providerOptions: { a: { b: (() => 1) as never } },
  });
  await expect(asked).rejects.toMatchObject({
    code: 'not_json',
    message: expect.stringContaining(', or its answer, is not data that the log can'),
  });
});
