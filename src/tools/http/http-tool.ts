import { z } from 'zod';
import type { Json } from '#base';
import { canonicalize } from '#canon';
import {
  type Call,
  DidNothing,
  declareTool,
  EffectError,
  type Reconciled,
  type Tool,
  type ToolSpec,
  type Undone,
} from '#effects';
import {
  callback,
  invalidTool,
  readOptions,
  requireMembers,
  SAID_OF_ACTS,
  type SaidOfActs,
  said,
  zodSchema,
} from '../options.ts';
import {
  type BodySort,
  type Exchanged,
  exchange,
  type HttpAnswer,
  type HttpRequest,
  type Reading,
  requireDone,
} from './exchange.ts';
import { apiScope, membersOf, type UrlMaker, type UrlOf, urlMaker } from './url.ts';

/** Headers by name. A function is asked at each call, so that what is secret stands in no log. */
export interface HttpHeaders {
  readonly [name: string]: string | (() => string | Promise<string>);
}

/** A call of an HTTP API as a tool. */
export interface HttpToolOptions<Schema extends z.ZodType = z.ZodType>
  extends SaidOfActs<Schema>,
    Pick<ToolSpec<Schema>, 'input' | 'class'> {
  /** By default GET for what only reads, and POST for what does not. */
  readonly method?: string;
  /** With `{member}` for a part of the input, which is escaped; or a function of the input, which needs `allow`. */
  readonly url: UrlOf<[input: z.infer<Schema>]>;
  /** The hosts, with their port where it is not the scheme's, that it may go to. By default that of the template. */
  readonly allow?: readonly string[];
  readonly headers?: HttpHeaders;
  /**
   * Headers of the deed alone, by its input: `If-Match` with what was read before, so that a server that knows it answers with 412 where
   * somebody who does not use Assize has written there since, and nothing is done (decisions §5.14). A plain object of texts, at once, or
   * nothing; of anything else a condition could get lost, so nothing is sent then.
   */
  readonly conditions?: (input: z.infer<Schema>) => { readonly [name: string]: string };
  /**
   * What is sent as JSON; undefined for nothing. By default the input, but for GET, HEAD and DELETE. The same for the same input. A text
   * is sent as a text of JSON too, and as it stands only under a `content-type` in `headers` that is another than JSON.
   */
  readonly body?: (input: z.infer<Schema>) => unknown;
  /** The header that takes the key. Default `Idempotency-Key`; null for a server that knows none. */
  readonly idempotencyHeader?: string | null;
  /**
   * What a 409 means. `open`: a request of the same key may still be at work, so nobody can tell yet; `refused`: nothing was done.
   * By default `open` where a key is sent.
   */
  readonly conflict?: 'open' | 'refused';
  /** How the answer is read. Default `json`, strictly: what two readers could read differently is refused. */
  readonly answer?: BodySort;
  /** Default 1 MiB. */
  readonly bytesMax?: number;
  /** What of the answer is the result. By default its body. */
  readonly result?: (answer: HttpAnswer) => unknown;
  /**
   * Asks with a GET whether it has happened. Needed for a queryable sink, and for no other. A server that may still be at work on a
   * request whose connection has ended says no too early: it has to answer with an error until it knows.
   */
  readonly reconcile?: {
    /** With `{key}` for the key of the effect, or a function of input and key. 404 and 410 say that it has not happened. */
    readonly url: UrlOf<[input: z.infer<Schema>, key: string]>;
    /** What the effect's result was; undefined where the answer says that it has not happened, or does no longer stand. */
    readonly result?: (answer: HttpAnswer, input: z.infer<Schema>, key: string) => unknown;
  };
  /** Undoes it, under a key of its own. 404 and 410 say to a DELETE that there is nothing to undo any more. */
  readonly compensate?: {
    /** Default DELETE. */
    readonly method?: string;
    /**
     * With `{member}` for a part of the result; where that has none of the name, of the input, if the URL of the deed is made of it: any
     * other is not what the deed was done to, and is named `{input.member}` where it is meant. Or a function of both.
     */
    readonly url: UrlOf<[input: z.infer<Schema>, result: any]>;
    /** Such as `If-Match` with what the deed has left, so that nothing is undone that is not as it was left. Given as `conditions`. */
    readonly headers?: (input: z.infer<Schema>, result: any) => { readonly [name: string]: string };
    readonly body?: (input: z.infer<Schema>, result: any) => unknown;
    /** What of it could not be undone, by the answer; undefined for all of it. */
    readonly residue?: (answer: HttpAnswer) => unknown;
  };
}

const BYTES_MAX = 2 ** 20;
const METHOD = z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);
const URL_OF = z.union([z.string(), callback]);
/** Of the message as it is sent, and none of a tool's own: whoever sends it refuses each, when it would be sent. */
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
    'a header that a tool can set, as the length of a message is set with it',
  );
const OPTIONS = z.strictObject({
  ...SAID_OF_ACTS,
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
 * A tool that calls an HTTP API. Its scope, unless said otherwise, is its URL (`apiScope`).
 *
 * A 2xx is a deed done. A 4xx is one that was not, and a connection that was never made another; all else may have come after
 * the deed (5xx, redirections, ends of connections, answers that can't be read), and what happens then follows from the class. What a
 * server says with a refusal is the `cause` of what is thrown: up to 4 KiB, as far as they come within a second; with `answer: 'none'` nothing.
 *
 * @throws EffectError `invalid_tool`
 */
export function httpTool<Schema extends z.ZodType>(options: HttpToolOptions<Schema>): Tool {
  const read = readOptions(OPTIONS, options) as unknown as HttpToolOptions;
  const asked = membersOf(read.reconcile?.url ?? '').filter((member) => member !== 'key');
  requireMembers(read.name, 'url', membersOf(read.url), read.input);
  requireMembers(read.name, 'reconcile.url', asked, read.input);
  requireMembers(read.name, 'compensate.url', inputsIn(read.compensate?.url ?? ''), read.input);
  requireNoBody(read.name, 'body', read.method ?? (read.class === 'read' ? 'GET' : 'POST'), read.body);
  requireNoBody(read.name, 'compensate.body', read.compensate?.method ?? 'DELETE', read.compensate?.body);
  const api = new HttpApi(read);
  const { input, class: sort } = read;
  const own = (given: unknown) => [apiScope(api.url(given, given))];
  const { reads = sort === 'read' ? own : undefined, writes = sort === 'read' ? undefined : own } = read;
  return declareTool({
    ...said(read),
    input,
    class: sort,
    ...(reads === undefined ? {} : { reads }),
    ...(writes === undefined ? {} : { writes }),
    ...(read.reconcile === undefined ? {} : { reconcile: api.reconciler(read.reconcile) }),
    ...(read.compensate === undefined ? {} : { compensate: api.compensator(read.compensate) }),
    execute: sort === 'read' ? (given, call) => api.read(given, call) : (given, call) => api.execute(given, call),
  });
}

const OF_INPUT = 'input.';

/** The members of the input that a template names as such. */
function inputsIn(url: UrlOf<any>): string[] {
  return membersOf(url).flatMap((member) => (member.startsWith(OF_INPUT) ? [member.slice(OF_INPUT.length)] : []));
}

/** @throws EffectError `bad_input` where a template names what is of the input, and does not say so */
function requireOwn(named: readonly string[], members: object, input: object): void {
  const other = named.find((member) => !Object.hasOwn(members, member) && Object.hasOwn(input, member));
  if (other === undefined) return;
  throw new EffectError(
    'bad_input',
    `This can't be undone: the URL needs ${other}, which the answer has not; name it {${OF_INPUT}${other}} where that of the input is meant.`,
  );
}

/** @throws EffectError `invalid_tool` for what could never be sent */
function requireNoBody(tool: string, part: string, method: string, body: unknown): void {
  if (body !== undefined && isBodiless(method))
    throw invalidTool(tool, `its ${part} can't be sent, as ${method} has none; leave it out, or say another method`);
}

function isBodiless(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

class HttpApi {
  readonly #options: HttpToolOptions;
  readonly #isReading: boolean;
  /** Null where none is sent. */
  readonly #keyHeader: string | null;
  readonly url: UrlMaker<[input: any]>;

  constructor(options: HttpToolOptions) {
    const { name, class: sort, idempotencyHeader = 'Idempotency-Key', url, allow } = options;
    this.#options = options;
    this.#isReading = sort === 'read';
    this.#keyHeader = this.#isReading ? null : idempotencyHeader;
    this.url = urlMaker(name, url, allow);
    if (sort !== 'read' && sort?.sink === 'keyed' && this.#keyHeader === null)
      throw invalidTool(name, 'a keyed sink has to be sent the key; name the header that takes it');
  }

  /** @throws EffectError `tool_failed`: what only reads has done nothing, whatever went wrong */
  async read(input: unknown, call: Call): Promise<Json> {
    try {
      return await this.execute(input, call);
    } catch (error) {
      const { name } = this.#options;
      const what = error instanceof Error ? error.message.replace(/\.$/, '') : 'no answer';
      throw new EffectError('tool_failed', `${name} could not be read: ${what}.`, {
        evidence: { tool: name },
        cause: error,
      });
    }
  }

  async execute(input: unknown, call: Call): Promise<Json> {
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
    return (result === undefined ? answer.body : (result(answer) ?? null)) as Json;
  }

  reconciler({ url, result }: NonNullable<HttpToolOptions['reconcile']>) {
    const { name, allow } = this.#options;
    const urlOf = urlMaker(name, url, allow);
    return async (input: unknown, call: Call): Promise<Reconciled> => {
      const { key } = call;
      const of = () => urlOf({ ...(input as object), key }, input, key);
      const request = await this.#prepared(undefined, { method: 'GET', url: of, body: () => undefined });
      const answer = await exchange(request, this.#reading(call));
      if (isGone(answer)) return { happened: false };
      this.#requireDone(request, answer);
      const found = result === undefined ? answer.body : result(answer, input, key);
      return found === undefined ? { happened: false } : { happened: true, result: found as Json };
    };
  }

  compensator({ method = 'DELETE', url, headers, body, residue }: NonNullable<HttpToolOptions['compensate']>) {
    const { name, allow } = this.#options;
    const urlOf = urlMaker(name, url, allow);
    const deedsOwn = membersOf(this.#options.url);
    const inputs = inputsIn(url);
    return async (input: unknown, result: unknown, call: Call): Promise<Undone> => {
      const given = input as Readonly<Record<string, unknown>>;
      const members = {
        ...Object.fromEntries(deedsOwn.map((member) => [member, given[member]])),
        ...(result as object),
        ...Object.fromEntries(inputs.map((member) => [OF_INPUT + member, given[member]])),
      };
      // A server must not answer it with what it answered to the deed itself.
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
      const left = residue?.(answer);
      return left === undefined ? { undone: 'all' } : { undone: 'partly', residue: left as Json };
    };
  }

  /** @throws DidNothing: whatever goes wrong here, nothing was sent */
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
      for (const [name, value] of Object.entries(parts.headers?.() ?? {})) this.#set(headers, name, value);
      if (body !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json');
      if (key !== undefined && this.#keyHeader !== null) headers.set(this.#keyHeader, key);
      return { method: parts.method, url, headers, body: body === undefined ? undefined : textOf(body, headers) };
    } catch (error) {
      const what = error instanceof Error ? error.message : 'it could not be prepared';
      const isOurs = error instanceof EffectError;
      throw new DidNothing(what, { final: isOurs, cause: error, why: isOurs ? error.code : undefined });
    }
  }

  async #headers(): Promise<Headers> {
    const { headers = {}, class: sort } = this.#options;
    const made = new Headers({ accept: 'application/json' });
    // A connection that was kept may have ended already, which here could not be told from a lost answer.
    if (sort !== 'read' && sort.sink === 'blind') made.set('connection', 'close');
    for (const [name, value] of Object.entries(headers))
      this.#set(made, name, typeof value === 'function' ? await value() : value);
    return made;
  }

  /** Without the value in what is said of it, and so without the cause, which has it: it may be a secret. */
  #set(headers: Headers, header: string, value: unknown): void {
    const { name } = this.#options;
    if (typeof value !== 'string') throw invalidTool(name, `its header ${header} has to be a text`);
    if (FRAMING.has(header.toLowerCase())) throw invalidTool(name, `${header} is a header that can't be set`);
    try {
      headers.set(header, value);
    } catch {
      throw invalidTool(name, `${JSON.stringify(header)} is no header, or one that can’t have that text`);
    }
  }

  #requireDone(request: HttpRequest, answer: Exchanged): void {
    const { conflict = this.#keyHeader === null ? 'refused' : 'open' } = this.#options;
    requireDone(request, answer, { isConflictOpen: conflict === 'open' });
  }

  #reading({ signal }: Call): Reading {
    const { bytesMax = BYTES_MAX, answer = 'json' } = this.#options;
    return { signal, bytesMax, answer };
  }
}

/** What a function says of headers. A promise, a Map or Headers have no members of their own: what they say would not be sent. */
function headersOf(tool: string, part: string, given: unknown): object {
  if (given === undefined || given === null) return {};
  const proto: unknown = typeof given === 'object' ? Object.getPrototypeOf(given) : undefined;
  if (proto === Object.prototype || proto === null) return given;
  // Refused however it ends, which must not be the end of the process.
  if (given instanceof Promise) given.catch(() => undefined);
  throw invalidTool(tool, `its ${part} has to give a plain object of texts by the names of headers, at once`);
}

/**
 * The same bytes for the same value: servers hold the same key with another body for misuse. A text is a text of JSON: what a model has
 * written must not arrive as an object.
 */
function textOf(body: unknown, headers: Headers): string {
  const isJson = JSON_TYPE.test(headers.get('content-type') ?? '');
  return typeof body === 'string' && !isJson ? body : canonicalize(body as Json);
}

/** `application/json`, or of another type that is built on it (RFC 6839 section 3.1). */
const JSON_TYPE = /^[^;]*[/+]json\s*(;|$)/i;

function isGone({ status }: HttpAnswer): boolean {
  return status === 404 || status === 410;
}
