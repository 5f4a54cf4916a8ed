import { expect, test } from 'vitest';
import { type AiSdkLanguageModel, type AiSdkOptions, aiSdk, type ChatRequest } from './index.ts';

const REQUEST: ChatRequest = {
  system: '',
  messages: [
    { from: 'user', text: 'Pay.' },
    { from: 'model', text: 'No.' },
    { from: 'user', text: 'Do.' },
  ],
  tools: [],
};

/** A language model with these results in order; a function is called. */
function modelOf(specificationVersion: string, ...results: readonly unknown[]) {
  const calls: any[] = [];
  const model = {
    specificationVersion,
    provider: 'acme',
    modelId: 'm1',
    doGenerate: async (options: any) => {
      const result = results[calls.length];
      calls.push(options);
      return typeof result === 'function' ? result(options) : result;
    },
  } as AiSdkLanguageModel;
  return { model, calls };
}

const failing = (fields: object) => () => {
  throw Object.assign(new Error('Bearer sk-secret was refused'), fields);
};
const said = (text: string, finishReason: unknown = 'stop', usage?: object) => ({
  content: [
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text },
  ],
  finishReason,
  usage,
});

function ask(model: AiSdkLanguageModel, options: AiSdkOptions = {}, signal?: AbortSignal) {
  return aiSdk(model, { pause: async () => undefined, ...options }).ask(REQUEST, signal);
}

test.each<[string, unknown, object | undefined]>([
  ['v2', 'stop', { inputTokens: 5, outputTokens: 2 }],
  ['v3', { unified: 'stop', raw: 'x' }, { inputTokens: { total: 5 }, outputTokens: { total: 2 } }],
  [
    'v4',
    { unified: 'stop', raw: undefined },
    { inputTokens: { total: 5 }, outputTokens: { total: 2 } },
  ],
])('a result of the specification %s is read', async (version, reason, usage) => {
  const { model, calls } = modelOf(version, said('yes', reason, usage));
  expect(await ask(model)).toEqual({
    text: 'yes',
    calls: [],
    stop: 'end',
    usage: { input: 5, output: 2 },
  });
  expect(calls[0].prompt.map(({ role }: any) => role)).toEqual(['user', 'assistant', 'user']);
  expect([calls[0].tools, calls[0].toolChoice]).toEqual([undefined, undefined]);
});

test('tool calls are read, except those that the provider has executed', async () => {
  const call = { type: 'tool-call', toolCallId: '1', toolName: 'pay', input: '{"id":1}' };
  const content = [
    call,
    { ...call, toolName: 'search', providerExecuted: true },
    { ...call, input: '' },
  ];
  const { model } = modelOf('v4', { content, finishReason: { unified: 'tool-calls' }, usage: {} });
  expect(await ask(model)).toEqual({
    text: '',
    calls: [
      { name: 'pay', input: { id: 1 } },
      { name: 'pay', input: {} },
    ],
    stop: 'end',
  });
});

test.each([
  ['length', 'length'],
  ['content-filter', 'filter'],
])('the finish reason %s is %s', async (reason, stop) => {
  expect((await ask(modelOf('v2', said('', reason)).model)).stop).toBe(stop);
  expect((await ask(modelOf('v4', said('', { unified: reason })).model)).stop).toBe(stop);
});

test.each<[number, string]>([
  [401, 'key_refused'],
  [404, 'request_refused'],
  [422, 'request_refused'],
  [200, 'bad_answer'],
])('an error of the provider with status %d is %s, without its words', async (statusCode, code) => {
  const { model, calls } = modelOf('v4', failing({ statusCode }));
  await expect(ask(model)).rejects.toMatchObject({
    code,
    message: expect.not.stringContaining('secret'),
  });
  expect(calls).toHaveLength(1);
});

test('a rate limit is waited for, and a failure is repeated', async () => {
  const waits: number[] = [];
  const limited = failing({ statusCode: 429, responseHeaders: { 'retry-after': '3' } });
  const { model } = modelOf('v4', limited, failing({ statusCode: 503 }), said('up'));
  const pause = async (from: number): Promise<void> => void waits.push(from);
  expect((await ask(model, { pause })).text).toBe('up');
  expect(waits).toEqual([3_000, 1_000]);
});

test.each<[string, unknown, string]>([
  ['no connection', failing({}), 'unreachable'],
  ['a stream that ended', said('', { unified: 'interrupted' }), 'unreachable'],
  ['a failed answer', said('', { unified: 'error' }), 'provider_failed'],
])('%s is repeated, and then an error', async (_, result, code) => {
  const { model, calls } = modelOf('v4', result, result, result);
  await expect(ask(model)).rejects.toMatchObject({ code, retryable: true });
  expect(calls).toHaveLength(3);
});

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['no content', { finishReason: 'stop' }],
  ['a text as content', { content: 'yes', finishReason: 'stop' }],
])('a result with %s is of another form', async (_, result) => {
  await expect(ask(modelOf('v4', result).model)).rejects.toMatchObject({
    code: 'bad_answer',
    message: expect.stringMatching(
      /could not read the answer|The result of the model has no|The answer is not of the/,
    ),
  });
});

test('a provider that ignores the signal and the time limit is left', async () => {
  const deaf = modelOf(
    'v4',
    () => new Promise(() => undefined),
    () => new Promise(() => undefined),
  ).model;
  await expect(ask(deaf, { timeoutMs: 20 })).rejects.toMatchObject({ code: 'model_timeout' });
  const ending = new AbortController();
  const asked = ask(deaf, {}, ending.signal);
  ending.abort(new Error('stopped'));
  await expect(asked).rejects.toThrow('stopped');
});

test.each(['v1', 'v5', ''])('the specification %j is refused', (version) => {
  expect(() => aiSdk(modelOf(version).model)).toThrow(
    expect.objectContaining({
      code: 'bad_argument',
      message: expect.stringContaining('is not valid'),
    }),
  );
});
