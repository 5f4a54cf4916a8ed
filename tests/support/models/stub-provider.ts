import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One answer of a stub. Default: status 200, JSON, whole. */
export interface StubReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, or a text that is sent as it is. */
  readonly body?: unknown;
  /** `cut`: half of the body, then the connection is lost. `hang`: headers, then nothing. */
  readonly ends?: 'cut' | 'hang' | 'reset';
}

export interface StubRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: any;
}

type Protocol = 'openai' | 'anthropic';

/** The key that the stub accepts. */
export const STUB_KEY = 'sk-stub-4711-abcdefghijklmnop';

/**
 * A provider of language models on loopback. It checks each request as the real API does, and
 * answers with the next reply.
 */
export class StubProvider {
  readonly requests: StubRequest[] = [];
  readonly #replies: StubReply[];
  readonly #server: Server;
  readonly #protocol: Protocol;
  readonly #key: string | undefined;

  private constructor(protocol: Protocol, replies: readonly StubReply[], key: string | undefined) {
    this.#protocol = protocol;
    this.#replies = [...replies];
    this.#key = key;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async listen(
    protocol: Protocol,
    replies: readonly StubReply[],
    { key = STUB_KEY }: { key?: string | null } = {},
  ): Promise<StubProvider> {
    const stub = new StubProvider(protocol, replies, key ?? undefined);
    stub.#server.listen(0, '127.0.0.1');
    await once(stub.#server, 'listening');
    return stub;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** More replies, after the others. */
  add(...replies: readonly StubReply[]): void {
    this.#replies.push(...replies);
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += chunk;
    const body = JSON.parse(text);
    this.requests.push({ path: request.url as string, headers: request.headers as never, body });
    const refusal = this.#refusal(request, body);
    send(
      response,
      refusal ??
        this.#replies.shift() ?? { status: 500, body: errorOf(this.#protocol, 'no reply is left') },
    );
  }

  #refusal({ method, url, headers }: IncomingMessage, body: any): StubReply | undefined {
    const of = PROTOCOLS[this.#protocol];
    const refused = (status: number, message: string): StubReply => ({
      status,
      body: errorOf(this.#protocol, message),
    });
    if (method !== 'POST' || url !== of.path) return refused(404, `no ${method} ${url}`);
    if (headers['content-type'] !== 'application/json') return refused(415, 'send JSON');
    if (this.#key !== undefined && headers[of.header] !== of.credential(this.#key))
      // Providers quote the key in part.
      return refused(401, `Incorrect API key provided: ${headers[of.header]}.`);
    const fault = of.fault(body, headers);
    return fault === undefined ? undefined : refused(400, fault);
  }
}

function send(
  response: ServerResponse,
  { status = 200, headers = {}, body, ends }: StubReply,
): void {
  if (ends === 'reset') {
    response.destroy();
    return;
  }
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? {});
  const length = ends === undefined ? {} : { 'content-length': String(Buffer.byteLength(text)) };
  response.writeHead(status, { 'content-type': 'application/json', ...length, ...headers });
  if (ends === undefined) response.end(text);
  else response.write(text.slice(0, text.length / 2), () => ends === 'cut' && response.destroy());
}

function errorOf(protocol: Protocol, message: string): object {
  const error = { message, type: 'invalid_request_error' };
  return protocol === 'openai' ? { error: { ...error, code: null } } : { type: 'error', error };
}

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

const PROTOCOLS = {
  openai: {
    path: '/v1/chat/completions',
    header: 'authorization',
    credential: (key: string) => `Bearer ${key}`,
    fault: ({ model, messages, tools = [], stream }: any): string | undefined => {
      if (typeof model !== 'string') return 'you must provide a model parameter';
      if (stream === true) return 'the stub does not stream';
      const odd = messages.find(
        ({ role, content }: any) =>
          !['system', 'user', 'assistant'].includes(role) || typeof content !== 'string',
      );
      if (odd !== undefined) return 'Invalid value in messages';
      const bad = tools.find(
        ({ type, function: of }: any) =>
          type !== 'function' || !TOOL_NAME.test(of.name) || of.parameters.type !== 'object',
      );
      return bad === undefined ? undefined : "Invalid 'tools[0].function'";
    },
  },
  anthropic: {
    path: '/v1/messages',
    header: 'x-api-key',
    credential: (key: string) => key,
    fault: (
      { model, max_tokens, messages, system, tools = [] }: any,
      headers: any,
    ): string | undefined => {
      if (headers['anthropic-version'] !== '2023-06-01')
        return 'anthropic-version: header is required';
      if (typeof model !== 'string') return 'model: Field required';
      if (!Number.isInteger(max_tokens)) return 'max_tokens: Field required';
      if (system !== undefined && typeof system !== 'string')
        return 'system: Input should be a valid string';
      const odd = messages.find(
        ({ role, content }: any, i: number) =>
          role !== (i % 2 === 0 ? 'user' : 'assistant') || content.trim() === '',
      );
      if (odd !== undefined)
        return 'messages: roles must alternate, and text content blocks must be non-empty';
      const bad = tools.find(
        ({ name, input_schema }: any) => !TOOL_NAME.test(name) || input_schema.type !== 'object',
      );
      return bad === undefined ? undefined : 'tools.0.custom: invalid';
    },
  },
} as const;

/** A completion of OpenAI's API with calls, or with a text. */
export function completion(
  said: string | readonly (readonly [name: string, args: unknown])[],
  reason?: string,
): StubReply {
  const isText = typeof said === 'string';
  const calls = isText
    ? undefined
    : said.map(([name, args], i) => ({
        id: `call_${i}`,
        type: 'function',
        function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
      }));
  const message = {
    role: 'assistant',
    content: isText ? said : null,
    ...(calls && { tool_calls: calls }),
  };
  const choice = { index: 0, message, finish_reason: reason ?? (isText ? 'stop' : 'tool_calls') };
  const usage = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 };
  return {
    body: {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'stub',
      choices: [choice],
      usage,
    },
  };
}

/** A message of Anthropic's API with calls, or with a text. */
export function message(
  said: string | readonly (readonly [name: string, input: unknown])[],
  reason?: string,
): StubReply {
  const isText = typeof said === 'string';
  const content = isText
    ? [{ type: 'text', text: said }]
    : [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        ...said.map(([name, input], i) => ({ type: 'tool_use', id: `toolu_${i}`, name, input })),
      ];
  const usage = { input_tokens: 11, output_tokens: 3 };
  const stop_reason = reason ?? (isText ? 'end_turn' : 'tool_use');
  return {
    body: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'stub',
      content,
      stop_reason,
      usage,
    },
  };
}
