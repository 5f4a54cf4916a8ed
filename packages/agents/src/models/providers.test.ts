import { afterEach, describe, expect, test } from 'vitest';
import {
  completion,
  message,
  STUB_KEY,
  StubProvider,
  type StubReply,
} from '../../../../tests/support/models/stub-provider.ts';
import {
  anthropic,
  type ChatModel,
  type ChatRequest,
  openAiCompatible,
  type TransportOptions,
} from './index.ts';

const REQUEST: ChatRequest = {
  system: 'You pay claims.',
  messages: [{ from: 'user', text: 'Pay c1.' }],
  tools: [
    {
      name: 'pay',
      description: 'Pays.',
      input: { type: 'object', properties: { id: { type: 'string' } } },
    },
    { name: 'wait', description: 'Waits.', input: { type: 'object', properties: {} } },
  ],
  temperature: 0,
  maxTokens: 200,
};

let stub: StubProvider | undefined;
afterEach(() => stub?.close());

interface Provider {
  readonly protocol: 'openai' | 'anthropic';
  readonly model: (origin: string, options?: TransportOptions, apiKey?: string) => ChatModel;
  readonly answer: typeof completion;
  readonly overloaded: number;
}

const PROVIDERS: readonly Provider[] = [
  {
    protocol: 'openai',
    model: (origin, options, apiKey = STUB_KEY) =>
      openAiCompatible({ baseUrl: `${origin}/v1`, model: 'stub', apiKey, ...options }),
    answer: completion,
    overloaded: 503,
  },
  {
    protocol: 'anthropic',
    model: (origin, options, apiKey = STUB_KEY) =>
      anthropic({ baseUrl: origin, model: 'stub', apiKey, ...options }),
    answer: message,
    overloaded: 529,
  },
];

describe.each(PROVIDERS)('$protocol', ({ protocol, model, answer, overloaded }) => {
  const waits: number[] = [];
  const pause = async (from: number): Promise<void> => void waits.push(from);

  async function ask(
    replies: readonly StubReply[],
    options: TransportOptions = {},
    apiKey?: string,
  ) {
    waits.length = 0;
    stub = await StubProvider.listen(protocol, replies);
    return model(stub.origin, { pause, ...options }, apiKey).ask(REQUEST);
  }

  test('a tool call and the counted tokens are read', async () => {
    expect(await ask([answer([['pay', { id: 'c1' }]])])).toEqual({
      text: '',
      calls: [{ name: 'pay', input: { id: 'c1' } }],
      stop: 'end',
      usage: { input: 11, output: 3 },
    });
    expect(stub!.requests).toHaveLength(1);
    expect(JSON.stringify(stub!.requests[0]!.body)).toContain('You pay claims.');
  });

  test('a text is read, and several calls are all in the answer', async () => {
    expect(await ask([answer('I would pay.')])).toMatchObject({
      text: 'I would pay.',
      calls: [],
      stop: 'end',
    });
    await stub!.close();
    expect(
      (
        await ask([
          answer([
            ['pay', {}],
            ['wait', {}],
          ]),
        ])
      ).calls,
    ).toHaveLength(2);
  });

  test.each(['length', 'max_tokens'])('the stop reason %s is a cut answer', async (reason) => {
    const is = (protocol === 'openai') === (reason === 'length') ? 'length' : 'end';
    expect((await ask([answer('I wo', reason)])).stop).toBe(is);
  });

  test.each(['content_filter', 'refusal'])('the stop reason %s is a filter', async (reason) => {
    const is = (protocol === 'openai') === (reason === 'content_filter') ? 'filter' : 'end';
    expect((await ask([answer('', reason)])).stop).toBe(is);
  });

  test('a wrong key is refused, and no error shows any part of it', async () => {
    const wrong = 'sk-wrong-0123456789-zyxwvutsrq';
    const error = await ask([], {}, wrong).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'key_refused',
      evidence: { status: 401 },
      retryable: false,
    });
    expect(shown(error)).not.toMatch(/wrong|01234|zyxwv/);
    expect(stub!.requests).toHaveLength(1);
  });

  test.each<[string, StubReply]>([
    [
      'its message',
      { status: 400, body: { error: { message: `bad ${STUB_KEY} and ${STUB_KEY.slice(3, 14)}` } } },
    ],
    [
      'its page',
      { status: 400, headers: { 'content-type': 'text/plain' }, body: `no: ${STUB_KEY}` },
    ],
    ['its content type', { headers: { 'content-type': `x/${STUB_KEY}` }, body: '' }],
  ])('no part of a key that a server quotes in %s is in the error', async (_, reply) => {
    const error = await ask([reply]).catch((thrown: unknown) => thrown);
    expect((error as Error).message).toContain('[key]');
    expect(shown(error)).not.toMatch(/4711|abcdef/);
  });

  test.each<[number, string, boolean]>([
    [400, 'request_refused', false],
    [403, 'key_refused', false],
    [404, 'request_refused', false],
    [413, 'request_refused', false],
    [302, 'request_refused', false],
  ])('status %d is %s, and is not repeated', async (status, code, retryable) => {
    const reply = {
      status,
      headers: { location: 'http://127.0.0.1:1/' },
      body: { error: { message: 'too many beans' } },
    };
    await expect(ask([reply])).rejects.toMatchObject({ code, retryable, evidence: { status } });
    expect([stub!.requests.length, waits]).toEqual([1, []]);
  });

  test('a rate limit is waited for as the server asks, and then answered', async () => {
    const limited = { status: 429, headers: { 'retry-after': '7' } };
    const dated = {
      status: 429,
      headers: {
        date: 'Fri, 27 Nov 2026 10:00:00 GMT',
        'retry-after': 'Fri, 27 Nov 2026 10:00:03 GMT',
      },
    };
    expect((await ask([limited, dated, answer('now')])).text).toBe('now');
    expect(waits).toEqual([7_000, 3_000]);
  });

  test('a rate limit ends after the retries, with the wait in its evidence', async () => {
    const limited = {
      status: 429,
      headers: { 'retry-after-ms': '250' },
      body: { error: { message: 'slow down' } },
    };
    await expect(ask([limited, limited, limited])).rejects.toMatchObject({
      code: 'rate_limited',
      retryable: true,
      evidence: { status: 429, afterMs: 250 },
      message: expect.stringContaining('slow down'),
    });
    expect([stub!.requests.length, waits]).toEqual([3, [250, 250]]);
  });

  test('a wait longer than allowed ends immediately', async () => {
    const limited = { status: 429, headers: { 'retry-after': '61' } };
    await expect(ask([limited])).rejects.toMatchObject({
      code: 'rate_limited',
      evidence: { afterMs: 61_000 },
    });
    expect([stub!.requests.length, waits]).toEqual([1, []]);
  });

  test('a failing provider is asked again, with growing waits', async () => {
    const failed = [{ status: 500 }, { status: overloaded }, { status: 502 }];
    await expect(ask(failed)).rejects.toMatchObject({
      code: 'provider_failed',
      evidence: { status: 502 },
    });
    expect(waits).toEqual([500, 1_000]);
    await stub!.close();
    expect((await ask([...failed.slice(1), answer('up')])).text).toBe('up');
  });

  test('a cut body and a lost connection are asked again', async () => {
    const cut = { ...answer('a long answer'), ends: 'cut' as const };
    expect((await ask([cut, { ends: 'reset' }, answer('whole')])).text).toBe('whole');
    await stub!.close();
    await expect(ask([cut], { retries: 0 })).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringMatching(/The answer of the provider|ended too early/),
      retryable: true,
    });
    await stub!.close();
    await expect(ask([{ ends: 'reset' }], { retries: 0 })).rejects.toMatchObject({
      code: 'unreachable',
    });
  });

  test('a server that is not there is unreachable', async () => {
    stub = await StubProvider.listen(protocol, []);
    const { origin } = stub;
    await stub.close();
    await expect(model(origin, { retries: 0 }).ask(REQUEST)).rejects.toMatchObject({
      code: 'unreachable',
    });
  });

  test('a body that does not end is a time-out, and is not repeated', async () => {
    const hanging = { ...answer('never whole'), ends: 'hang' as const };
    await expect(ask([hanging], { timeoutMs: 100 })).rejects.toMatchObject({
      code: 'model_timeout',
      evidence: { timeoutMs: 100 },
    });
    expect(stub!.requests).toHaveLength(1);
  });

  test('an abort ends the question with its own reason', async () => {
    const ending = new AbortController();
    stub = await StubProvider.listen(protocol, [{ ...answer('never whole'), ends: 'hang' }]);
    const asked = model(stub.origin, { pause }).ask(REQUEST, ending.signal);
    const reason = new Error('stopped');
    ending.abort(reason);
    await expect(asked).rejects.toBe(reason);
    await expect(model(stub.origin).ask(REQUEST, ending.signal)).rejects.toBe(reason);
  });

  test.each<[string, StubReply, RegExp]>([
    [
      'a page',
      { headers: { 'content-type': 'text/html' }, body: '<html>Sign in</html>' },
      /instead of JSON/,
    ],
    [
      'an event stream',
      { headers: { 'content-type': 'text/event-stream' }, body: 'data: {}' },
      /instead of JSON/,
    ],
    ['a text that is not JSON', { body: '{"choices": [' }, /is not JSON/],
    ['nothing', { body: '' }, /is not JSON/],
    ['bytes that are not UTF-8', { body: '"\ud800"' }, /is not of the protocol/],
    ['JSON of another form', { body: { content: 'x', choices: [] } }, /is not of the protocol/],
    ['an error as a success', { body: { error: { message: 'no' } } }, /is not of the protocol/],
    ['a list', { body: [1] }, /is not of the protocol/],
  ])('%s is a bad answer: %s', async (_, reply, text) => {
    await expect(ask([reply])).rejects.toMatchObject({
      code: 'bad_answer',
      message: expect.stringMatching(text),
    });
    expect(stub!.requests).toHaveLength(1);
  });

  test('a huge answer is refused at its limit', async () => {
    const huge = answer('x'.repeat(2_000_000));
    await expect(ask([huge], { bytesMax: 100_000 })).rejects.toMatchObject({
      code: 'bad_answer',
      message: expect.stringContaining('100000 bytes'),
      evidence: { bytesMax: 100_000 },
    });
  });

  test.each<[string, object]>([
    ['a URL of another protocol', { baseUrl: 'file:///etc' }],
    ['a URL with a user', { baseUrl: 'https://user:pass@h.example' }],
    ['a URL with a query', { baseUrl: 'https://h.example?key=1' }],
    ['plain HTTP with a key', { baseUrl: 'http://h.example' }],
    ['a key with a line break', { apiKey: 'sk-secret\nx: y' }],
    ['an empty key', { apiKey: '' }],
    ['no model', { model: '' }],
    ['no time', { timeoutMs: 0 }],
    ['too many retries', { retries: 11 }],
    ['no bytes', { bytesMax: 0.5 }],
    ['an endless wait', { retryWaitMaxMs: Number.POSITIVE_INFINITY }],
  ])('%s is refused before any request', (_, wrong) => {
    let error: unknown;
    try {
      model('http://127.0.0.1:1', wrong as never);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({
      code: 'bad_argument',
      message: expect.stringContaining('is not valid'),
    });
    expect(shown(error)).not.toMatch(/secret|user:pass/);
  });
});

test('a local server needs no key, and gets its tools as text', async () => {
  stub = await StubProvider.listen('openai', [completion('{"action":"pay","args":{"id":"c1"}}')], {
    key: null,
  });
  const local = openAiCompatible({
    baseUrl: `${stub.origin}/v1/`,
    model: 'llama',
    tools: 'text',
    extra: { seed: 1 },
  });
  expect((await local.ask(REQUEST)).text).toContain('"pay"');
  const [{ body, headers }] = stub.requests as [(typeof stub.requests)[0]];
  expect(headers['authorization']).toBeUndefined();
  expect(body).toMatchObject({
    model: 'llama',
    stream: false,
    seed: 1,
    temperature: 0,
    max_tokens: 200,
  });
  expect(body.tools).toBeUndefined();
  expect(body.messages[0].content).toContain('pay: Pays.\n{"type":"object"');
});

test('a refusal of the model is a filter', async () => {
  const refused = {
    message: { role: 'assistant', content: null, refusal: 'I cannot.' },
    finish_reason: 'stop',
  };
  stub = await StubProvider.listen('openai', [{ body: { choices: [refused] } }], { key: null });
  const model = openAiCompatible({ baseUrl: `${stub.origin}/v1`, model: 'gpt' });
  expect(await model.ask(REQUEST)).toEqual({ text: '', calls: [], stop: 'filter' });
});

test('arguments are read from text, from an object and around noise', async () => {
  stub = await StubProvider.listen(
    'openai',
    [
      completion([
        ['pay', 'Sure: {"id":"c1"} there.'],
        ['pay', ''],
        ['pay', '{"id": 90071992547409930}'],
        ['pay', '{"id"'],
      ]),
      {
        body: {
          choices: [
            {
              message: {
                content: [
                  { type: 'text', text: 'a' },
                  { type: 'text', text: 'b' },
                ],
                tool_calls: [{ function: { name: 'pay', arguments: { id: 2 } } }],
              },
            },
          ],
        },
      },
    ],
    { key: null },
  );
  const model = openAiCompatible({ baseUrl: `${stub.origin}/v1`, model: 'llama' });
  expect((await model.ask(REQUEST)).calls).toEqual([
    { name: 'pay', input: { id: 'c1' } },
    { name: 'pay', input: {} },
    { name: 'pay', unreadable: '{"id": 90071992547409930}' },
    { name: 'pay', unreadable: '{"id"' },
  ]);
  expect(await model.ask(REQUEST)).toEqual({
    text: 'ab',
    calls: [{ name: 'pay', input: { id: 2 } }],
    stop: 'end',
  });
});

/** All that an error can show: its texts, evidence and causes. */
function shown(error: unknown): string {
  const { message = '', stack = '', evidence, cause } = error as Error & { evidence?: unknown };
  return `${message} ${stack} ${JSON.stringify(evidence)} ${cause === undefined ? '' : shown(cause)}`;
}
