import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { inspect } from 'node:util';
import {
  type Delivery,
  DidNothing,
  NoAnswer,
  type Reversibility,
  type Sink,
} from 'assize/internal/effects';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { errorOf } from '../../../../tests/support/process/errors.ts';
import { crashedEverywhere, transact } from '../../../../tests/support/tools/tool-stage.ts';
import { HttpSink, type RequestFault } from '../../tests/support/http-sink.ts';
import { requireDone } from './exchange.ts';
import { type HttpToolOptions, httpTool } from './index.ts';

const input = z.strictObject({ what: z.string() });
const open: HttpSink[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
});

async function sinkOf(sort: Sink, faults: readonly RequestFault[] = []): Promise<HttpSink> {
  const sink = await HttpSink.open(sort, faults);
  open.push(sink);
  return sink;
}

/** Takes an order at the shop. */
function order(
  { host, sink }: Pick<HttpSink, 'host' | 'sink'>,
  reversibility: Reversibility,
  delivery: Delivery,
  rest: Partial<HttpToolOptions<typeof input>> = {},
) {
  const base = `http://${host}`;
  return httpTool({
    name: `${reversibility}.${delivery}`,
    input,
    class: { reversibility, delivery, sink: sink.sort },
    url: `${base}/orders`,
    ...(reversibility === 'irreversible' ? {} : { compensate: { url: `${base}/orders/{id}` } }),
    ...(sink.sort === 'queryable' ? { reconcile: { url: `${base}/effects/{key}` } } : {}),
    ...rest,
  });
}

/** One order that is held until the commit. */
const held = (sink: HttpSink, callTimeoutMs = 2_000) =>
  transact(
    [order(sink, 'irreversible', 'buffered')],
    (tx) => tx.call('irreversible.buffered', { what: 'a' }),
    {
      callTimeoutMs,
    },
  );

describe('the requests that arrive, by class and fault', () => {
  // The fault, the executions and the unresolved effects: keyed, queryable, blind.
  test.each<[RequestFault, [number, number], [number, number], [number, number]]>([
    ['none', [1, 0], [1, 0], [1, 0]],
    [429, [1, 0], [1, 0], [1, 0]],
    [500, [1, 0], [1, 0], [0, 1]],
    [302, [1, 0], [1, 0], [0, 1]],
    ['after', [1, 0], [1, 0], [1, 1]],
    ['lose', [1, 0], [1, 0], [1, 1]],
    ['lose_before', [1, 0], [1, 0], [0, 1]],
    ['garbage', [1, 0], [1, 0], [1, 0]],
  ])('%s once', async (fault, keyed, queryable, blind) => {
    for (const [sort, [times, left]] of [
      ['keyed', keyed],
      ['queryable', queryable],
      ['blind', blind],
    ] as const) {
      const sink = await sinkOf(sort, [fault]);
      const ended = await held(sink);
      expect([sort, sink.sink.times('do', 'a'), ended.left.length]).toEqual([sort, times, left]);
      expect(ended.isCommitted).toBe(true);
    }
  });

  test.each<[Sink, number]>([
    ['keyed', 0],
    ['queryable', 0],
    ['blind', 1],
  ])('hanging, at a %s sink: the request is ended, and the call is resumed', async (sort, left) => {
    const sink = await sinkOf(sort, ['hang']);
    const ended = await held(sink, 100);
    expect([sink.sink.times('do', 'a'), ended.left.length]).toEqual([1, left]);
  });

  test('a permanent refusal is not resent; a temporary one is, up to the limit', async () => {
    for (const [status, times] of [
      [422, 1],
      [307, 1],
      [408, 3],
      [425, 3],
      [429, 3],
    ] as const) {
      const sink = await sinkOf('keyed', Array(9).fill(status));
      const { left } = await held(sink);
      expect([status, sink.requests.length, left.map(({ phase }) => phase)]).toEqual([
        status,
        times,
        ['unresolved'],
      ]);
    }
  });

  test.each<[string, Record<string, string>, number | undefined]>([
    ['seconds', { 'retry-after': '3' }, 3_000],
    [
      'a date, by the clock of the server',
      { 'retry-after': 'Fri, 31 Dec 1999 23:59:59 GMT', date: 'Fri, 31 Dec 1999 23:59:49 GMT' },
      10_000,
    ],
    [
      'a date that is over',
      { 'retry-after': 'Fri, 31 Dec 1999 23:59:49 GMT', date: 'Fri, 31 Dec 1999 23:59:59 GMT' },
      undefined,
    ],
    ['a date by no clock', { 'retry-after': 'Fri, 31 Dec 1999 23:59:59 GMT' }, undefined],
    ['an invalid time', { 'retry-after': 'soon' }, undefined],
    ['nothing', {}, undefined],
  ])('a passing refusal says when to try again: %s', (_, headers, afterMs) => {
    const request = {
      method: 'POST',
      url: new URL('http://shop.example/'),
      headers: new Headers(),
      body: undefined,
    };
    for (const status of [408, 409, 425, 429]) {
      const refused = () =>
        requireDone(request, { status, headers, body: null }, { isConflictOpen: false });
      const error = errorOf(refused) as DidNothing;
      expect([error instanceof DidNothing, error.isFinal, error.afterMs]).toEqual([
        true,
        false,
        afterMs,
      ]);
    }
    // The outcome of the effect is then unknown, but the time of the next attempt or query is
    // known.
    for (const [status, isConflictOpen] of [
      [503, false],
      [409, true],
    ] as const) {
      const error = errorOf(() =>
        requireDone(request, { status, headers, body: null }, { isConflictOpen }),
      ) as NoAnswer;
      expect([error instanceof NoAnswer, error.afterMs]).toEqual([true, afterMs]);
    }
  });

  test.each<[RequestFault, string]>([
    [500, 'http_500'],
    [302, 'http_302'],
    [307, 'http_307'],
    [422, 'http_422'],
    [429, 'http_429'],
    [409, 'http_409'],
    ['lose_before', 'connection_lost'],
  ])('the reason of an unresolved effect has nothing of the answer: %s', async (fault, why) => {
    const sink = await sinkOf('keyed', Array(9).fill(fault));
    const tool = order(sink, 'irreversible', 'buffered');
    const { left } = await transact([tool], (tx) => tx.call(tool.name, { what: 'a' }));
    expect(left).toMatchObject([{ why, error: expect.any(Error) }]);
  });

  test.each<[string, string, number, string | undefined]>([
    ['whole', '{"error":"card declined"}', 402, '{"error":"card declined"}'],
    ['the part that is kept', 'x'.repeat(10_000), 422, 'x'.repeat(4_096)],
    ['the part that arrives', 'unended', 422, 'unended'],
    ['where nobody knows what was done', 'out of order', 500, 'out of order'],
    ['nothing', ' ', 404, undefined],
  ])(
    'a server’s text with a refusal is for the caller, and in no message: %s',
    async (sort, text, status, said) => {
      const server = createHttpServer((_request, response) => {
        response.writeHead(status).write(text);
        if (text !== 'unended') response.end();
      }).listen(0, '127.0.0.1');
      onTestFinished(() => {
        server.closeAllConnections();
        server.close();
      });
      await once(server, 'listening');
      const shop = {
        host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
        sink: { sort: 'blind' } as never,
      };
      const tool = (rest: object) => order(shop, 'reversible', 'externalised', rest);
      const errorWith = async (rest: object) => {
        const { error } = await transact([tool(rest)], (tx) =>
          tx.call('reversible.externalised', { what: 'a' }),
        );
        return error as Error & { cause: Error & { cause?: Error } };
      };
      const error = await errorWith({});
      expect([sort, error.cause.cause?.message]).toEqual([sort, said]);
      expect(error.message + error.cause.message).not.toContain(text.trim() || '\n');
      expect((await errorWith({ answer: 'none' })).cause.cause).toBeUndefined();
    },
  );

  test('a port that is not for HTTP is sent nothing, and that is certain', async () => {
    const shop = { host: '127.0.0.1:1', sink: { sort: 'blind' } as never };
    const { error, left } = await transact([order(shop, 'reversible', 'externalised')], (tx) =>
      tx.call('reversible.externalised', { what: 'a' }),
    );
    expect([error, left]).toMatchObject([
      { code: 'tool_failed', retryable: false, cause: { why: 'bad_port' } },
      [],
    ]);
  });

  test('a 409 under its own key may be a request that is still at work', async () => {
    const sink = await sinkOf('keyed', [409]);
    expect((await held(sink)).left).toEqual([]);
    expect(sink.requests.length).toBe(2);
    const lasting = await sinkOf('keyed', Array(9).fill(409));
    expect((await held(lasting)).left.map(({ phase }) => phase)).toEqual(['in_doubt']);
    // Where the server says what it means by it, nothing was done.
    const plain = await sinkOf('keyed', Array(9).fill(409));
    const tool = order(plain, 'irreversible', 'buffered', { conflict: 'refused' });
    const { left } = await transact([tool], (tx) => tx.call(tool.name, { what: 'a' }));
    expect(left.map(({ phase }) => phase)).toEqual(['unresolved']);
  });

  test('a refusal proves nothing about an earlier request with a lost answer', async () => {
    const sink = await sinkOf('keyed', ['lose', 401, 401, 401]);
    const { error, left } = await transact([order(sink, 'reversible', 'externalised')], (tx) =>
      tx.call('reversible.externalised', { what: 'a' }),
    );
    expect(error?.code).toBe('outcome_unknown');
    expect([sink.sink.standing('a'), left.map(({ phase }) => phase)]).toEqual([1, ['in_doubt']]);
  });

  test('a host without a listener was sent nothing', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    server.close();
    const shop = { host: `127.0.0.1:${port}`, sink: { sort: 'blind' } as never };
    const { error, left } = await transact([order(shop, 'reversible', 'externalised')], (tx) =>
      tx.call('reversible.externalised', { what: 'a' }),
    );
    expect([error?.code, left]).toEqual(['tool_failed', []]);
  });
});

describe('compensation', () => {
  test.each<[Sink, readonly RequestFault[], number]>([
    ['keyed', ['none'], 0],
    ['keyed', ['none', 'lose'], 0],
    ['keyed', ['none', 500], 0],
    ['keyed', ['none', 404], 1],
    ['queryable', ['none', 'lose'], 0],
    ['blind', ['none', 'lose'], 0],
  ])('at a %s sink, where requests go %j', async (sort, faults, standing) => {
    const sink = await sinkOf(sort, faults);
    const { isCommitted, left } = await transact(
      [order(sink, 'reversible', 'externalised')],
      async (tx) => {
        expect(await tx.call('reversible.externalised', { what: 'a' })).toEqual({ id: 'a' });
        throw new Error('no');
      },
    );
    expect(isCommitted).toBe(false);
    // A 404 to a DELETE is believed: there is nothing there to undo.
    expect([sink.sink.standing('a'), left.length]).toEqual([standing, sort === 'blind' ? 1 : 0]);
    const [done, undone] = sink.requests.filter(({ method }) => method !== 'GET');
    expect(undone?.url).toBe('/orders/a');
    expect(undone?.headers['idempotency-key']).toBe(`undo-${done?.headers['idempotency-key']}`);
  });
});

test('an abort by a failed connection proves nothing about the request', async () => {
  const { promise: hasArrived, resolve: arrived } = Promise.withResolvers<void>();
  const server = createHttpServer(() => arrived()).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { spec } = order({ host, sink: { sort: 'keyed' } as never }, 'reversible', 'externalised');
  const stop = new AbortController();
  const made = Promise.resolve(
    spec.execute({ what: 'a' } as never, { key: 'k', signal: stop.signal, epoch: 1 }, []),
  );
  const failed = made.catch((error: unknown) => error);
  await hasArrived;
  stop.abort(
    new Error('taken over', {
      cause: Object.assign(new Error('no database'), { code: 'ECONNREFUSED' }),
    }),
  );
  expect(await failed).toMatchObject({ name: 'NoAnswer', why: 'connection_lost' });
});

describe('the compensation of a request', () => {
  const typed = z.strictObject({ shop: z.string(), id: z.string(), note: z.string() });
  const post = { input: typed, method: 'POST', url: '/shops/{shop}/orders' } as const;

  /**
   * The URLs of the compensation and the unresolved effects, by the server's answer to the effect.
   */
  async function undoneAt(
    options: object,
    compensate: string,
    answer: string,
  ): Promise<[string[], string[]]> {
    const asked: string[] = [];
    const server = createHttpServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(request.method === 'DELETE' ? '' : answer);
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { url, ...rest } = { ...post, ...options };
    const tool = httpTool({
      ...rest,
      name: 'shop.order',
      class: { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' },
      url: base + url,
      compensate: { url: base + compensate },
    });
    const { left } = await transact([tool], async (tx) => {
      await tx.call('shop.order', { shop: 's', id: 'customer-7', note: 'n' });
      throw new Error('no');
    });
    return [asked.filter((each) => each.startsWith('DELETE')), left.map(({ phase }) => phase)];
  }

  test.each([
    [
      'of the answer',
      {},
      '/shops/{shop}/orders/{id}',
      '{"id":5}',
      ['DELETE /shops/s/orders/5'],
      [],
    ],
    [
      'of the URL of the deed',
      { method: 'PUT', url: '/orders/{id}' },
      '/orders/{id}',
      '',
      ['DELETE /orders/customer-7'],
      [],
    ],
    [
      'of the input, named so',
      {},
      '/notes/{input.note}/{id}',
      '{"id":5,"note":"m"}',
      ['DELETE /notes/n/5'],
      [],
    ],
    ['of no input of that name by chance', {}, '/shops/{shop}/orders/{id}', '', [], ['unresolved']],
    [
      'of no input of that name by chance, either',
      {},
      '/shops/{shop}/orders/{id}',
      '{"id":null}',
      [],
      ['unresolved'],
    ],
  ])('is sent to a URL with a part %s', async (_, options, compensate, answer, asked, left) => {
    expect(await undoneAt(options, compensate, answer)).toEqual([asked, left]);
  });

  test('gets an error that names input fields, also for a computed effect URL', async () => {
    const { spec } = httpTool({
      ...post,
      name: 'shop.order',
      class: { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' },
      url: ({ id }) => `http://a.example/orders/${id}`,
      allow: ['a.example'],
      compensate: { url: 'http://a.example/orders/{id}' },
    });
    const call = { key: 'k', signal: new AbortController().signal, epoch: 1 };
    const undone = spec.compensate!({ shop: 's', id: 'i', note: 'n' } as never, null, call);
    await expect(undone).rejects.toThrow(/the answer has no id .* Write \{input\.id\}/);
  });

  test.each([
    ['compensate.url', { compensate: { url: 'http://a.example/{input.no}' } }],
    ['url', { url: 'http://a.example/{input.note}', uncompensated: 'it may stay' }],
  ])('can’t name a field in %s that no input has', (part, rest) => {
    const tool = () =>
      httpTool({
        ...post,
        name: 'shop.order',
        class: { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' },
        url: 'http://a.example/',
        ...(rest as object),
      });
    expect(tool).toThrow(`its ${part} has {`);
  });
});

/**
 * A document that any client may write, with an expected version of its choice; and a tool that
 * sets the document.
 */
async function openDocument(
  rest: Partial<HttpToolOptions> = {},
  compensating: Partial<NonNullable<HttpToolOptions['compensate']>> = {},
) {
  const document = { text: 'old', version: 1 };
  const server = createHttpServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString();
    const { 'if-match': condition } = request.headers;
    if (condition !== undefined && condition !== `"${document.version}"`)
      return void response.writeHead(412).end();
    write(JSON.parse(text).text);
    response
      .writeHead(200, { 'content-type': 'application/json', etag: `"${document.version}"` })
      .end('{}');
  }).listen(0, '127.0.0.1');
  const write = (text: string): void =>
    void Object.assign(document, { text, version: document.version + 1 });
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/document`;
  const tool = httpTool({
    name: 'document.set',
    input: z.strictObject({ text: z.string(), etag: z.string() }),
    class: { reversibility: 'reversible', delivery: 'externalised', sink: 'blind' },
    method: 'PUT',
    url,
    conditions: ({ etag }) => ({ 'if-match': etag }),
    body: ({ text }) => ({ text }),
    result: ({ headers }) => ({ etag: headers['etag'] }),
    compensate: {
      method: 'PUT',
      url,
      headers: (_, { etag }) => ({ 'if-match': etag }),
      body: () => ({ text: 'old' }),
      ...compensating,
    },
    ...(rest as object),
  });
  return { document, write, tool, [Symbol.asyncDispose]: async () => void server.close() };
}

describe('a write of a client that does not use Assize', () => {
  const etag = '"1"';

  test.each([false, true])(
    'is not overwritten, and its conflict is reported: before it %s',
    async (isBefore) => {
      await using at = await openDocument();
      const { left, error } = await transact([at.tool], async (tx) => {
        if (isBefore) at.write('theirs');
        await tx.call('document.set', { text: 'ours', etag });
        at.write('theirs');
        throw new Error('no');
      });
      expect(at.document).toEqual({ text: 'theirs', version: isBefore ? 2 : 3 });
      expect([(error as { code?: string }).code, left.map(({ phase }) => phase)]).toEqual(
        isBefore ? ['tool_failed', []] : [undefined, ['unresolved']],
      );
    },
  );

  const wrong: [string, unknown][] = [
    ['a promise', Promise.resolve({ 'if-match': etag })],
    ['headers', new Headers({ 'if-match': etag })],
    ['a map', new Map([['if-match', etag]])],
    ['a list of pairs', [['if-match', etag]]],
    ['a text', `if-match: ${etag}`],
    ['no text', { 'if-match': undefined }],
    ['a number', { 'if-match': 1 }],
    ['no name', { 'if match': etag }],
    ['a text of two lines', { 'if-match': `a\nb` }],
  ];
  test.each(wrong)(
    'is not written over for a condition that can’t be read: %s',
    async (_what, given) => {
      let asked = 0;
      const say = (): never => {
        asked++;
        return given as never;
      };
      await using at = await openDocument({ conditions: say });
      const { left, error } = await transact([at.tool], (tx) =>
        tx.call('document.set', { text: 'ours', etag }),
      );
      expect([at.document, asked, left]).toEqual([{ text: 'old', version: 1 }, 1, []]);
      expect(error).toMatchObject({
        code: 'tool_failed',
        message: expect.stringMatching(/conditions|if.match/),
      });
    },
  );

  test('is not written over for a condition that is promised, and never given', async () => {
    await using at = await openDocument({
      conditions: (() => Promise.reject(new Error('no'))) as never,
    });
    const { error } = await transact([at.tool], (tx) =>
      tx.call('document.set', { text: 'ours', etag }),
    );
    expect([at.document.version, error]).toMatchObject([1, { code: 'tool_failed' }]);
  });

  test.each(wrong)('is not undone by a condition that can’t be read: %s', async (_what, given) => {
    let asked = 0;
    const say = (): never => {
      asked++;
      return given as never;
    };
    await using at = await openDocument({}, { headers: say });
    const { left } = await transact([at.tool], async (tx) => {
      await tx.call('document.set', { text: 'ours', etag });
      throw new Error('no');
    });
    expect([at.document, asked]).toEqual([{ text: 'ours', version: 2 }, 1]);
    expect(left).toMatchObject([{ phase: 'unresolved' }]);
  });

  test.each([undefined, null, {}, Object.assign(Object.create(null), { 'if-match': etag })])(
    'meets no condition where none is given, or that of any plain object: %j',
    async (given) => {
      await using at = await openDocument({ conditions: () => given as never });
      await transact([at.tool], (tx) => tx.call('document.set', { text: 'ours', etag }));
      expect(at.document).toEqual({ text: 'ours', version: 2 });
    },
  );

  test('is absent, and the effect is compensated', async () => {
    await using at = await openDocument();
    const { left } = await transact([at.tool], async (tx) => {
      expect(await tx.call('document.set', { text: 'ours', etag })).toEqual({ etag: '"2"' });
      throw new Error('no');
    });
    expect([at.document, left]).toEqual([{ text: 'old', version: 3 }, []]);
  });
});

describe('a crash at every step', () => {
  test.each<Sink>(['keyed', 'queryable'])('at a %s sink: all once, or nothing', async (sort) => {
    const outcomes = new Set<boolean>();
    const crashes = await crashedEverywhere({
      open: () => HttpSink.open(sort),
      tools: (sink) => [
        order(sink, 'reversible', 'externalised'),
        order(sink, 'irreversible', 'buffered'),
      ],
      body: async (tx) => {
        await tx.call('reversible.externalised', { what: 'acted' });
        await tx.call('irreversible.buffered', { what: 'held' });
      },
      check: ({ sink }, { isCommitted, left }) => {
        outcomes.add(isCommitted);
        expect(left).toEqual([]);
        expect(sink.standing('acted')).toBe(isCommitted ? 1 : 0);
        expect(sink.times('do', 'held')).toBe(isCommitted ? 1 : 0);
      },
    });
    expect(crashes).toBeGreaterThan(10);
    expect(outcomes.size).toBe(2);
  });
});

test.each([
  ['no URL', {}, '/url: it must be a string or a function, but is missing'],
  ['an invalid URL', { url: 7 }, '/url: it must be a string or a function, but is a number'],
  [
    'a misspelled URL',
    { ulr: 'http://a/' },
    'there is no field "ulr"; /url: it must be a string or a function, but is missing. The options are name, ',
  ],
  [
    'no URL to ask',
    { url: 'http://a/', reconcile: {} },
    '/reconcile/url: it must be a string or a function, but is m',
  ],
  [
    'an invalid body',
    { url: 'http://a/', body: {} },
    '/body: it must be a function, but is an object',
  ],
])('a tool with %s is refused by name', (_what, options, why) => {
  const make = () => httpTool({ name: 'shop.order', input, class: 'read', ...options } as never);
  expect(make).toThrow(
    expect.objectContaining({
      reason: 'invalid_tool',
      message: expect.stringContaining(`The tool shop.order cannot be used: ${why}`),
    }),
  );
});

describe('a request', () => {
  const reading = ({ host }: HttpSink, rest: object = {}) =>
    httpTool({
      name: 'shop.read',
      input: z.strictObject({ path: z.string() }),
      class: 'read',
      url: `http://${host}/{path}`,
      ...rest,
    } as never);
  const read = async (sink: HttpSink, path: string, rest?: object) => {
    let value: unknown;
    const { error } = await transact([reading(sink, rest)], async (tx) => {
      value = await tx.call('shop.read', { path });
    });
    return error ?? value;
  };

  test('has the key, a canonical JSON body, and headers made when it is sent', async () => {
    const sink = await sinkOf('keyed');
    let asked = 0;
    const tool = httpTool({
      name: 'shop.order',
      input,
      class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
      url: `http://${sink.host}/orders`,
      headers: { authorization: () => `Bearer ${++asked}`, 'x-plain': 'yes' },
      idempotencyHeader: 'idempotency-key',
    });
    expect(asked).toBe(0);
    await transact([tool], (tx) => tx.call('shop.order', { what: 'a' }));
    expect(sink.requests).toMatchObject([
      {
        method: 'POST',
        url: '/orders',
        headers: {
          authorization: 'Bearer 1',
          'x-plain': 'yes',
          'content-type': 'application/json',
          'idempotency-key': expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      },
    ]);
  });

  test.each(['GET', 'HEAD'] as const)(
    'has no body where its method, %s, has none',
    async (method) => {
      const sink = await sinkOf('blind');
      const tool = order(sink, 'irreversible', 'buffered', { method, answer: 'none' });
      const { left } = await transact([tool], (tx) =>
        tx.call('irreversible.buffered', { what: 'a' }),
      );
      expect([sink.requests.map((each) => each.method), left.map(({ why }) => why)]).toEqual([
        [method],
        ['http_404'],
      ]);
      const body = { body: () => ({ a: 1 }) };
      expect(() => order(sink, 'irreversible', 'buffered', { method, ...body })).toThrow(
        /body.*no.*method/,
      );
      const undo = { compensate: { method, url: `http://${sink.host}/orders/{id}`, ...body } };
      expect(() => order(sink, 'reversible', 'externalised', undo)).toThrow(
        /compensate\.body.*another method/,
      );
    },
  );

  test('has no header that is not its own to set', async () => {
    const sink = await sinkOf('blind');
    const expecting = { Expect: '100-continue' };
    expect(() => order(sink, 'irreversible', 'buffered', { headers: expecting })).toThrow(/Expect/);
    const tool = order(sink, 'irreversible', 'buffered', { conditions: () => expecting });
    const { left } = await transact([tool], (tx) =>
      tx.call('irreversible.buffered', { what: 'a' }),
    );
    expect([sink.requests, left]).toMatchObject([
      [],
      [{ phase: 'unresolved', why: 'invalid_tool' }],
    ]);
  });

  test.each([
    ['with less than it says', 'content-length: 9\r\n\r\n{"a":'],
    ['in parts without the last', 'transfer-encoding: chunked\r\n\r\n5\r\n{"a":'],
    ['packed as it is not', 'content-encoding: gzip\r\n\r\n{}'],
    ['with a page', 'content-type: text/html\r\ncontent-length: 6\r\n\r\n<html>'],
    [
      'in another charset',
      'content-type: application/json; charset=latin1\r\ncontent-length: 3\r\n\r\n"\xe9"',
    ],
    ['with more than it may', `content-length: 2000\r\n\r\n"${'x'.repeat(1_998)}"`],
    ['with a name twice', 'content-length: 13\r\n\r\n{"a":1,"a":2}'],
  ])('that is answered 200 %s is done, and not sent again', async (_, answer) => {
    for (const sort of ['keyed', 'blind'] as const) {
      let requests = 0;
      const server = createServer((socket) => {
        requests += 1;
        socket.end(Buffer.from(`HTTP/1.1 200 OK\r\nconnection: close\r\n${answer}`, 'latin1'));
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const sink = { host: `127.0.0.1:${port}`, sink: { sort } } as HttpSink;
      const tool = order(sink, 'irreversible', 'buffered', { bytesMax: 1_000 });
      const { left, outcome } = await transact([tool], (tx) =>
        tx.call('irreversible.buffered', { what: 'a' }),
      );
      server.close();
      expect([sort, requests, left, outcome?.effects]).toEqual([sort, 1, [], 'settled']);
    }
  });

  test('reveals nothing of the intended value of an invalid header', async () => {
    const sink = await sinkOf('blind');
    const headers = { authorization: () => 'Bearer\ns3cret' };
    const { spec } = order(sink, 'irreversible', 'externalised', { headers });
    const call = { key: 'k', epoch: 1, signal: new AbortController().signal };
    const error = await Promise.resolve(spec.execute({ what: 'a' }, call, [])).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ name: 'DidNothing', why: 'invalid_tool' });
    expect(inspect(error, { depth: 9 })).toContain('authorization');
    expect(inspect(error, { depth: 9 })).not.toContain('s3cret');
    expect(sink.requests).toEqual([]);
  });

  test.each<[string | undefined, unknown, string]>([
    [undefined, '{"admin":true}', '"{\\"admin\\":true}"'],
    ['application/vnd.shop+json; charset=utf-8', 'note', '"note"'],
    ['application/x-www-form-urlencoded', 'a=1&b=2', 'a=1&b=2'],
    ['text/plain', { b: 1, a: 2 }, '{"a":2,"b":1}'],
  ])('of the type %s, with %j for a body, sends %s', async (type, body, expected) => {
    const got: string[] = [];
    const server = createHttpServer(async (request, response) => {
      got.push(Buffer.concat(await request.toArray()).toString());
      response.end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const tool = order(
      { host: `127.0.0.1:${port}`, sink: { sort: 'blind' } } as HttpSink,
      'irreversible',
      'buffered',
      {
        body: () => body,
        ...(type === undefined ? {} : { headers: { 'Content-Type': type } }),
      },
    );
    const { left } = await transact([tool], (tx) =>
      tx.call('irreversible.buffered', { what: 'a' }),
    );
    server.close();
    expect([left, got]).toEqual([[], [expected]]);
  });

  test('is not sent where a header can’t be made', async () => {
    const sink = await sinkOf('blind');
    const tool = httpTool({
      name: 'shop.order',
      input,
      class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'blind' },
      url: `http://${sink.host}/orders`,
      headers: { authorization: () => Promise.reject(new Error('the vault is shut')) },
    });
    const { left } = await transact([tool], (tx) => tx.call('shop.order', { what: 'a' }));
    expect([sink.requests.length, left.map(({ phase }) => phase)]).toEqual([0, ['unresolved']]);
  });

  test.each([undefined, 7, 'a\nb'])(
    'is not sent with a header that is made as no text: %j',
    async (made) => {
      const sink = await sinkOf('keyed');
      let asked = 0;
      const authorization = (): never => {
        asked++;
        return made as never;
      };
      expect(await read(sink, 'x', { headers: { authorization } })).toMatchObject({
        code: 'tool_failed',
        message: expect.not.stringContaining('a\nb'),
      });
      expect([sink.requests, asked]).toEqual([[], 1]);
    },
  );

  test('follows a redirection of a GET to the same origin, and no other', async () => {
    const sink = await sinkOf('keyed', [302]);
    expect(await read(sink, 'moved')).toMatchObject({ code: 'tool_failed' });
    expect(sink.requests.map(({ url }) => url)).toEqual(['/moved', '/elsewhere']);
    const posted = await sinkOf('keyed', [307]);
    await held(posted);
    expect(posted.requests.map(({ url }) => url)).toEqual(['/orders']);
    const other = await sinkOf('keyed');
    const leads = createServer((socket) => {
      socket.end(
        `HTTP/1.1 302 Found\r\nlocation: http://${other.host}/moved\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`,
      );
    }).listen(0, '127.0.0.1');
    await once(leads, 'listening');
    const { port } = leads.address() as { port: number };
    expect(await read({ host: `127.0.0.1:${port}` } as HttpSink, 'x')).toMatchObject({
      code: 'tool_failed',
    });
    leads.close();
    expect(other.requests).toEqual([]);
    const named = createServer((socket) => {
      const { port } = named.address() as { port: number };
      socket.end(
        `HTTP/1.1 302 Found\r\nlocation: http://user:pass@127.0.0.1:${port}/in\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`,
      );
    }).listen(0, '127.0.0.1');
    await once(named, 'listening');
    const host = `127.0.0.1:${(named.address() as { port: number }).port}`;
    expect(await read({ host } as HttpSink, 'x')).toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining('302, a redirection that is not followed'),
    });
    named.close();
  });

  test('is answered with no more than it may, read strictly', async () => {
    const sink = await sinkOf('keyed', ['none', 'none', 'garbage', 'garbage', 'garbage']);
    expect(await read(sink, 'moved')).toEqual({ at: '/moved' });
    expect(await read(sink, 'moved', { bytesMax: 5, answer: 'text' })).toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining('5 bytes'),
    });
    expect(await read(sink, 'moved')).toMatchObject({ code: 'tool_failed' });
    expect(await read(sink, 'moved', { answer: 'text' })).toBe('{"a":1,"a":2}');
    expect(await read(sink, 'moved', { answer: 'none' })).toBe(null);
  });
});
