import { errorMessage, isInstance, isUnwantedPromise, type Json } from 'assize/internal/base';
import { canonicalize } from 'assize/internal/canon';
import {
  type CallContext,
  type CompensationResult,
  DidNothing,
  declareTool,
  EffectError,
  type ReconcileResult,
  type Tool,
  type ToolSpec,
  UnreadableAnswer,
} from 'assize/internal/effects';
import { z } from 'zod';
import {
  ACTING_OPTIONS,
  type ActingToolOptions,
  callback,
  invalidTool,
  pickToolOptions,
  readOptions,
  requireMembers,
  zodSchema,
} from '../options.ts';
import {
  type BodyOptions,
  type BodySort,
  exchange,
  type HttpExchange,
  type HttpRequest,
  type HttpResponse,
  requireDone,
} from './exchange.ts';
import { apiScope, membersOf, type UrlMaker, type UrlOf, urlMaker } from './url.ts';

/** Headers by name. A function runs at each call, so secrets are not stored in a log. */
export interface HttpHeaders {
  readonly [name: string]: string | (() => string | Promise<string>);
}

/** A call of an HTTP API as a tool. */
export interface HttpToolOptions<Schema extends z.ZodType = z.ZodType>
  extends ActingToolOptions<Schema>,
    Pick<ToolSpec<Schema>, 'input' | 'class'> {
  /** Default: GET for a read, and POST otherwise. */
  readonly method?: string;
  /**
   * A template with `{member}` for an escaped part of the input, or a function of the input. A
   * function requires `allow`.
   */
  readonly url: UrlOf<[input: z.infer<Schema>]>;
  /**
   * Allowed hosts, with the port if it is not the scheme's default. Default: the template's host.
   */
  readonly allow?: readonly string[];
  readonly headers?: HttpHeaders;
  /**
   * Headers of the effect's request only, from its input. Example: `If-Match` with the version that
   * was read before. If another program has changed the resource, the server then answers 412 and
   * does nothing (docs/decisions/016-effect-outcomes.md). Returns synchronously a plain object of
   * strings, or undefined. Any other value could lose a condition, so the request is not sent.
   */
  readonly conditions?: (input: z.infer<Schema>) => { readonly [name: string]: string };
  /**
   * The JSON body, or undefined for no body. Default: the input, except for GET, HEAD and DELETE.
   * The function must return the same body for the same input. A string is sent as a JSON string.
   * It is sent raw only if `headers` sets a `content-type` that is not JSON.
   */
  readonly body?: (input: z.infer<Schema>) => unknown;
  /** The header for the key. Default `Idempotency-Key`; null for a server without one. */
  readonly idempotencyHeader?: string | null;
  /**
   * Meaning of a 409. `open`: a request of the same key may still be in progress, so the outcome is
   * unknown. `refused`: the server did nothing. Default: `open` if a key is sent.
   */
  readonly conflict?: 'open' | 'refused';
  /** The format of the answer. Default `json`, in strict form: ambiguous JSON is refused. */
  readonly answer?: BodySort;
  /** Maximum number of bytes of an answer. Default 1 MiB. */
  readonly bytesMax?: number;
  /** Derives the result from the answer. Default: its body. */
  readonly result?: (answer: HttpResponse) => unknown;
  /**
   * Queries with a GET whether the effect happened. Required for a queryable sink, and refused for
   * other sinks. A server may still process a request after its connection has ended. It must
   * answer with an error until the outcome is certain.
   */
  readonly reconcile?: {
    /**
     * A template with `{key}` for the key of the effect, or a function of input and key. 404 and
     * 410 mean that the effect has not happened.
     */
    readonly url: UrlOf<[input: z.infer<Schema>, key: string]>;
    /**
     * The effect's result. Undefined if the answer shows that the effect has not happened, or no
     * longer exists.
     */
    readonly result?: (answer: HttpResponse, input: z.infer<Schema>, key: string) => unknown;
  };
  /**
   * Compensates the effect, under a separate key. To a DELETE, 404 and 410 mean that nothing is
   * left to compensate.
   */
  readonly compensate?: {
    /** Default DELETE. */
    readonly method?: string;
    /**
     * A template with `{member}` for a part of the result, or a function of input and result. If
     * the result lacks the field, the input's field is used if the URL of the effect contains it.
     * Any other input field did not name the resource, and must be written as `{input.member}`.
     */
    readonly url: UrlOf<[input: z.infer<Schema>, result: any]>;
    /**
     * Headers such as `If-Match` with the version that the effect left, so that only an unchanged
     * resource is compensated. Same form as `conditions`.
     */
    readonly headers?: (input: z.infer<Schema>, result: any) => { readonly [name: string]: string };
    readonly body?: (input: z.infer<Schema>, result: any) => unknown;
    /** The residue, derived from the answer. Undefined if the compensation reverted everything. */
    readonly residue?: (answer: HttpResponse) => unknown;
  };
}

const BYTES_MAX = 2 ** 20;
const METHOD = z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);
const URL_OF = z.union([z.string(), callback]);
/**
 * Headers of message framing. A tool can't set them: `fetch` refuses each of them when the request
 * is sent.
 */
const FRAMING: ReadonlySet<string> = new Set([
  'content-length',
  'expect',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);
const HEADER_NAME = z
  .string()
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'the name of a header')
  .refine(
    (name) => !FRAMING.has(name.toLowerCase()),
    'a header other than those that frame the message',
  );
const OPTIONS = z.strictObject({
  ...ACTING_OPTIONS,
  input: zodSchema,
  class: z.unknown().optional(),
  method: METHOD.optional(),
  url: URL_OF,
  allow: z.array(z.string()).optional(),
  headers: z.record(HEADER_NAME, z.union([z.string(), callback])).optional(),
  conditions: callback.optional(),
  body: callback.optional(),
  idempotencyHeader: HEADER_NAME.nullable().optional(),
  conflict: z.enum(['open', 'refused']).optional(),
  answer: z.enum(['json', 'text', 'none']).optional(),
  bytesMax: z.number().int().positive().optional(),
  result: callback.optional(),
  reconcile: z.strictObject({ url: URL_OF, result: callback.optional() }).optional(),
  compensate: z
    .strictObject({
      method: METHOD.optional(),
      url: URL_OF,
      headers: callback.optional(),
      body: callback.optional(),
      residue: callback.optional(),
    })
    .optional(),
});

/**
 * A tool that calls an HTTP API. Its default scope is its URL (`apiScope`).
 * A 2xx means that the effect is done. A 4xx, or a connection that was never made, means that it is
 * not done. All other outcomes may follow the effect: 5xx, redirections, ended connections,
 * unreadable answers. Then the tool's class decides. The server's text with a refusal is the
 * `cause` of the error: up to 4 KiB, received within a second; with `answer: 'none'` no text.
 *
 * @throws EffectError `invalid_tool`
 */
export function httpTool<Schema extends z.ZodType>(options: HttpToolOptions<Schema>): Tool {
  const read = readOptions(OPTIONS, options) as unknown as HttpToolOptions;
  const asked = membersOf(read.reconcile?.url ?? '').filter((member) => member !== 'key');
  requireMembers(read.name, 'url', membersOf(read.url), read.input);
  requireMembers(read.name, 'reconcile.url', asked, read.input);
  requireMembers(read.name, 'compensate.url', inputsIn(read.compensate?.url ?? ''), read.input);
  requireNoBody(
    read.name,
    'body',
    read.method ?? (read.class === 'read' ? 'GET' : 'POST'),
    read.body,
  );
  requireNoBody(
    read.name,
    'compensate.body',
    read.compensate?.method ?? 'DELETE',
    read.compensate?.body,
  );
  const api = new HttpApi(read);
  const { input, class: sort } = read;
  const own = (given: unknown) => [apiScope(api.url(given, given))];
  const { reads = sort === 'read' ? own : undefined, writes = sort === 'read' ? undefined : own } =
    read;
  return declareTool({
    ...pickToolOptions(read),
    input,
    class: sort,
    ...(reads === undefined ? {} : { reads }),
    ...(writes === undefined ? {} : { writes }),
    ...(read.reconcile === undefined ? {} : { reconcile: api.reconciler(read.reconcile) }),
    ...(read.compensate === undefined ? {} : { compensate: api.compensator(read.compensate) }),
    execute:
      sort === 'read'
        ? (given, call) => api.read(given, call)
        : (given, call) => api.execute(given, call),
  });
}

const OF_INPUT = 'input.';

/** The fields that a template marks as fields of the input. */
function inputsIn(url: UrlOf<any>): string[] {
  return membersOf(url).flatMap((member) =>
    member.startsWith(OF_INPUT) ? [member.slice(OF_INPUT.length)] : [],
  );
}

/**
 * @throws EffectError `bad_input` if a template names an input field without the prefix `input.`
 */
function requireOwn(named: readonly string[], members: object, input: object): void {
  const other = named.find(
    (member) => !Object.hasOwn(members, member) && Object.hasOwn(input, member),
  );
  if (other === undefined) return;
  throw new EffectError(
    'bad_input',
    `The effect cannot be compensated: the answer has no ${other} for the URL. Write {${OF_INPUT}${other}} to use the input.`,
  );
}

/** @throws EffectError `invalid_tool` for a request that could never be sent */
function requireNoBody(tool: string, part: string, method: string, body: unknown): void {
  if (body !== undefined && isBodiless(method))
    throw invalidTool(
      tool,
      `its ${part} cannot be sent with ${method}. Remove it, or choose another method`,
    );
}

function isBodiless(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

class HttpApi {
  readonly #options: HttpToolOptions;
  readonly #isReading: boolean;
  /** Null if no key is sent. */
  readonly #keyHeader: string | null;
  readonly url: UrlMaker<[input: any]>;

  constructor(options: HttpToolOptions) {
    const { name, class: sort, idempotencyHeader = 'Idempotency-Key', url, allow } = options;
    this.#options = options;
    this.#isReading = sort === 'read';
    this.#keyHeader = this.#isReading ? null : idempotencyHeader;
    this.url = urlMaker(name, url, allow);
    if (sort !== 'read' && sort?.sink === 'keyed' && this.#keyHeader === null)
      throw invalidTool(name, 'a keyed sink must receive the key. Set idempotencyHeader');
  }

  /**
   * @throws EffectError `tool_failed`: a read has no effect, so every error means that nothing was
   * done
   */
  async read(input: unknown, call: CallContext): Promise<unknown> {
    try {
      return await this.execute(input, call);
    } catch (error) {
      const { name } = this.#options;
      const what = errorMessage(error)?.replace(/\.$/, '') ?? 'no answer';
      throw new EffectError('tool_failed', `${name} could not be read: ${what}.`, {
        evidence: { tool: name },
        cause: error,
      });
    }
  }

  async execute(input: unknown, call: CallContext): Promise<unknown> {
    const { method = this.#isReading ? 'GET' : 'POST', conditions, body, result } = this.#options;
    const isBare = this.#isReading || method === 'DELETE' || isBodiless(method);
    const request = await this.#prepared(call.key, {
      method,
      url: () => this.url(input, input),
      body: () => (body === undefined ? (isBare ? undefined : input) : body(input)),
      headers: () => headersOf(this.#options.name, 'conditions', conditions?.(input)),
    });
    const answer = await exchange(request, this.#reading(call));
    this.#requireDone(request, answer);
    // The server has done the call, so nothing about its answer makes the call unknown.
    const { unreadable } = answer;
    if (unreadable !== undefined && this.#isReading) throw unreadable;
    if (unreadable !== undefined) return new UnreadableAnswer(unreadable);
    try {
      return result === undefined ? answer.body : (result(answer) ?? null);
    } catch (error) {
      if (this.#isReading) throw error;
      return new UnreadableAnswer(error);
    }
  }

  reconciler({ url, result }: NonNullable<HttpToolOptions['reconcile']>) {
    const { name, allow } = this.#options;
    const urlOf = urlMaker(name, url, allow);
    return async (input: unknown, call: CallContext): Promise<ReconcileResult> => {
      const { key } = call;
      const of = () => urlOf({ ...(input as object), key }, input, key);
      const request = await this.#prepared(undefined, {
        method: 'GET',
        url: of,
        body: () => undefined,
      });
      const answer = await exchange(request, this.#reading(call));
      if (isGone(answer)) return { happened: false };
      this.#requireDone(request, answer);
      if (answer.unreadable !== undefined) throw answer.unreadable;
      const found = result === undefined ? answer.body : result(answer, input, key);
      return found === undefined ? { happened: false } : { happened: true, result: found as Json };
    };
  }

  compensator({
    method = 'DELETE',
    url,
    headers,
    body,
    residue,
  }: NonNullable<HttpToolOptions['compensate']>) {
    const { name, allow } = this.#options;
    const urlOf = urlMaker(name, url, allow);
    const deedsOwn = membersOf(this.#options.url);
    const inputs = inputsIn(url);
    return async (
      input: unknown,
      result: unknown,
      call: CallContext,
    ): Promise<CompensationResult> => {
      const given = input as Readonly<Record<string, unknown>>;
      const members = {
        ...Object.fromEntries(deedsOwn.map((member) => [member, given[member]])),
        ...(result as object),
        ...Object.fromEntries(inputs.map((member) => [OF_INPUT + member, given[member]])),
      };
      // The server must not repeat the answer to the effect itself.
      const request = await this.#prepared(`undo-${call.key}`, {
        method,
        url: () => {
          requireOwn(membersOf(url), members, given);
          return urlOf(members, input, result);
        },
        body: () => body?.(input, result),
        headers: () => headersOf(name, 'compensate.headers', headers?.(input, result)),
      });
      const answer = await exchange(request, this.#reading(call));
      if (method === 'DELETE' && isGone(answer)) return { undone: 'all' };
      this.#requireDone(request, answer);
      if (residue !== undefined && answer.unreadable !== undefined)
        return { undone: 'partly', residue: { unknown: answer.unreadable.message } };
      const left = residue?.(answer);
      return left === undefined ? { undone: 'all' } : { undone: 'partly', residue: left as Json };
    };
  }

  /** @throws DidNothing, because every error here occurs before the request is sent */
  async #prepared(
    key: string | undefined,
    parts: {
      readonly method: string;
      readonly url: () => URL;
      readonly body: () => unknown;
      readonly headers?: () => object;
    },
  ): Promise<HttpRequest> {
    try {
      const url = parts.url();
      const body = parts.body();
      const headers = await this.#headers();
      for (const [name, value] of Object.entries(parts.headers?.() ?? {}))
        this.#set(headers, name, value);
      if (body !== undefined && !headers.has('content-type'))
        headers.set('content-type', 'application/json');
      if (key !== undefined && this.#keyHeader !== null) headers.set(this.#keyHeader, key);
      return {
        method: parts.method,
        url,
        headers,
        body: body === undefined ? undefined : textOf(body, headers),
      };
    } catch (error) {
      const what = errorMessage(error) ?? 'it could not be prepared';
      const isOurs = isInstance(error, EffectError);
      throw new DidNothing(what, {
        final: isOurs,
        cause: error,
        why: isOurs ? error.reason : undefined,
      });
    }
  }

  async #headers(): Promise<Headers> {
    const { headers = {}, class: sort } = this.#options;
    const made = new Headers({ accept: 'application/json' });
    // A reused connection may have ended already, and the error would look like a lost answer.
    if (sort !== 'read' && sort.sink === 'blind') made.set('connection', 'close');
    for (const [name, value] of Object.entries(headers))
      this.#set(made, name, typeof value === 'function' ? await value() : value);
    return made;
  }

  /**
   * The error has neither the value nor its cause: the cause contains the value, and the value may
   * be a secret.
   */
  #set(headers: Headers, header: string, value: unknown): void {
    const { name } = this.#options;
    if (typeof value !== 'string') throw invalidTool(name, `its header ${header} must be a string`);
    if (FRAMING.has(header.toLowerCase()))
      throw invalidTool(name, `the header ${header} cannot be set`);
    try {
      headers.set(header, value);
    } catch {
      throw invalidTool(
        name,
        `${JSON.stringify(header)} is not a header name, or its value is not valid`,
      );
    }
  }

  #requireDone(request: HttpRequest, answer: HttpExchange): void {
    const { conflict = this.#keyHeader === null ? 'refused' : 'open' } = this.#options;
    requireDone(request, answer, { isConflictOpen: conflict === 'open' });
  }

  #reading({ signal }: CallContext): BodyOptions {
    const { bytesMax = BYTES_MAX, answer = 'json' } = this.#options;
    return { signal, bytesMax, answer };
  }
}

/**
 * The headers that a function returns. A promise, a Map or Headers has no own fields, so its
 * headers would not be sent.
 */
function headersOf(tool: string, part: string, given: unknown): object {
  if (given === undefined || given === null) return {};
  const proto: unknown = typeof given === 'object' ? Object.getPrototypeOf(given) : undefined;
  if (proto === Object.prototype || proto === null) return given;
  isUnwantedPromise(given);
  throw invalidTool(
    tool,
    `its ${part} must return a plain object of strings by header name, without a promise`,
  );
}

/**
 * The same bytes for the same value: servers treat the same key with another body as misuse. A
 * string becomes a JSON string, so text from a model never arrives as an object.
 */
function textOf(body: unknown, headers: Headers): string {
  const isJson = JSON_TYPE.test(headers.get('content-type') ?? '');
  return typeof body === 'string' && !isJson ? body : canonicalize(body as Json);
}

/** `application/json`, or a type that is based on it (RFC 6839 section 3.1). */
const JSON_TYPE = /^[^;]*[/+]json\s*(;|$)/i;

function isGone({ status }: HttpResponse): boolean {
  return status === 404 || status === 410;
}
