/**
 * The refusals that every operation must give, made from the table of operations. A new operation
 * has them without a new line here.
 */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { PrincipalKind } from '#config';
import type { Operation } from '#server';
import { headOf, sendRaw } from './raw-http.ts';
import type { Answered, Asking, PrincipalName, TestServer } from './serving.ts';
import { PRINCIPALS } from './serving.ts';

/** A request that an operation must refuse. */
export interface Refusal {
  readonly name: string;
  readonly status: number;
  readonly code: string;
  /** The pointer of a finding, or of a value above it. */
  readonly finding?: string;
  /** Makes what the request needs, such as a token that has ended. */
  readonly prepare?: (server: TestServer) => Promise<string>;
  /** `prepared`: the result of `prepare`. */
  readonly ask: (
    server: TestServer,
    prepared: string | undefined,
  ) => Promise<Pick<Answered, 'status' | 'text' | 'body'> & { readonly type: string }>;
}

/** Text that a value of a request has. No answer may repeat it. */
const CANARY = 'canary-4711';
const ZEROS = '0'.repeat(64);
/** Texts for a parameter of a path. The first that its schema accepts is sent. */
const PARAMETERS: readonly string[] = ['1', ZEROS, '0'.repeat(16), 'main', 'any-name-of-a-value'];
/** One of them misfits each schema that has a misfit. */
const MISFITS: readonly unknown[] = [
  { member: CANARY },
  1.5,
  null,
  [[CANARY]],
  true,
  'n'.repeat(70_000),
  '',
];

/** Every refusal of an operation that follows from its place in the table. */
export function refusalsOf(one: Operation): Refusal[] {
  return [
    ...[...ofPrincipals(one), ...ofSites(one), ...ofHosts(one)],
    ...[...ofPath(one), ...ofQuery(one), ...ofBody(one), ...ofTexts(one)],
  ];
}

/** The ways in which the answer to a refusal differs from its contract. */
export async function faultsOf(server: TestServer, refusal: Refusal): Promise<string[]> {
  const prepared = await refusal.prepare?.(server);
  const before = await server.contents();
  const { status, text, body, type } = await refusal.ask(server, prepared);
  const faults = problemFaults({ status, text, body, type }, refusal.status, refusal.code);
  const { finding } = refusal;
  const pointers: string[] = (body?.findings ?? []).map(
    ({ pointer }: { pointer: string }) => pointer,
  );
  if (
    finding !== undefined &&
    !pointers.some((pointer) => pointer === finding || pointer.startsWith(`${finding}/`))
  )
    faults.push(`no finding at ${finding}, but at ${pointers.join(', ')}`);
  if (!isDeepStrictEqual(await server.contents(), before)) faults.push('the store has changed');
  return [...faults, ...server.undocumented.splice(0)];
}

/** The ways in which an answer is not the problem document of a code. */
export function problemFaults(
  { status, text, body, type }: { status: number; text: string; body: any; type: string },
  wanted: number,
  code: string,
): string[] {
  const faults: string[] = [];
  if (status !== wanted || body?.code !== code)
    faults.push(`${status} ${body?.code ?? text.slice(0, 80)}, not ${wanted} ${code}`);
  if (!type.startsWith('application/problem+json')) faults.push(`content type ${type}`);
  if (body?.status !== status) faults.push('the document has another status');
  for (const member of ['type', 'title', 'detail', 'request_id'])
    if (typeof body?.[member] !== 'string' || body[member] === '') faults.push(`no ${member}`);
  if (body?.type !== `https://github.com/assize/assize/blob/main/docs/errors.md#${code}`)
    faults.push('another type');
  if (typeof body?.retryable !== 'boolean') faults.push('no retryable');
  if (/(\\n|\n)\s+at |node_modules|\.ts\b/.test(text)) faults.push('a stack');
  if (/\b(SELECT|INSERT INTO|UPDATE|sqlite|postgres)\b/.test(text)) faults.push('SQL');
  if (/asz_[0-9a-f]{16}/.test(text)) faults.push('a token');
  if (text.includes(CANARY)) faults.push('a value of the request');
  return faults;
}

function ofPrincipals(one: Operation): Refusal[] {
  const refused = (name: string, token: (server: TestServer) => Promise<string>): Refusal => ({
    name,
    status: 401,
    code: 'unauthenticated',
    prepare: token,
    ask: async (server, prepared) => asked(server, one, { token: prepared }),
  });
  const others = (Object.keys(PRINCIPALS) as PrincipalName[]).filter(
    (name) => !isOneOf(name, one.kinds),
  );
  return [
    {
      name: 'no token',
      status: 401,
      code: 'unauthenticated',
      ask: (server) => asked(server, one, {}),
    },
    refused('a token without a form', async () => 'secret'),
    refused('an unknown token', async () => `asz_${'0'.repeat(16)}_${ZEROS}`),
    refused(
      'a token with another secret',
      async (server) => `${server.tokens[principalOf(one)].slice(0, -64)}${ZEROS}`,
    ),
    refused('an expired token', (server) => server.tokenFor(principalOf(one), { expired: true })),
    refused('a revoked token', async (server) => {
      const token = await server.tokenFor(principalOf(one));
      await server.service.tokens.revoke(token.split('_')[1] as string);
      return token;
    }),
    ...others.map(
      (name): Refusal => ({
        name: `a principal of another kind: ${name}`,
        status: 403,
        code: 'forbidden',
        ask: (server) => asked(server, one, { token: server.tokens[name] }),
      }),
    ),
    {
      name: 'another authorization scheme',
      status: 401,
      code: 'unauthenticated',
      ask: (server) => asked(server, one, { headers: { authorization: `Basic ${CANARY}` } }),
    },
  ];
}

/** Requests of pages of other sites, with the session cookie of the browser. */
function ofSites(one: Operation): Refusal[] {
  const refused = (name: string, headers: Readonly<Record<string, string>>): Refusal => ({
    name: `a session, and ${name}`,
    status: 403,
    code: 'bad_origin',
    prepare: (server) => server.cookieFor(principalOf(one)),
    ask: (server, cookie = '') => asked(server, one, { headers: { cookie, ...headers } }),
  });
  return [
    refused('the origin of another site', { origin: 'https://evil.example' }),
    refused('the origin null', { origin: 'null' }),
    refused('another scheme of the origin', { origin: 'https://127.0.0.1' }),
    ...(one.method === 'get'
      ? [refused('a read for another site', { 'sec-fetch-site': 'cross-site' })]
      : [refused('no origin', {})]),
  ];
}

function ofPath(one: Operation): Refusal[] {
  return Object.entries(one.params?.shape ?? {}).map(([name, schema]) => {
    const misfit = ['x', 'n'.repeat(70_000).slice(0, 5_000)].find(
      (text) => !isAccepted(schema as z.ZodType, text),
    );
    if (misfit === undefined)
      throw new Error(`${one.id}: every text is accepted for ${name}. Bound the parameter.`);
    return invalid(one, `path: ${name} mistyped`, `/path/${name}`, { path: { [name]: misfit } });
  });
}

function ofQuery(one: Operation): Refusal[] {
  const shape = Object.entries(one.query?.shape ?? {}) as [string, z.ZodType][];
  const [[first] = ['bogus']] = shape;
  return [
    invalid(one, 'query: unknown member', '/query', { query: `bogus=${CANARY}` }),
    invalid(one, 'query: member of every object', '/query', { query: `__proto__=${CANARY}` }),
    invalid(one, 'query: repeated member', `/query/${first}`, { query: `${first}=1&${first}=1` }),
    ...shape.flatMap(([name, schema]) => {
      const misfit = ['x', '', '-1', 'n'.repeat(5_000)].find((text) => !isAccepted(schema, text));
      const mistyped =
        misfit === undefined
          ? []
          : [
              invalid(one, `query: ${name} mistyped`, `/query/${name}`, {
                query: `${name}=${misfit}`,
              }),
            ];
      return isAccepted(schema, undefined)
        ? mistyped
        : [...mistyped, invalid(one, `query: ${name} missing`, `/query/${name}`, {})];
    }),
  ];
}

function ofBody(one: Operation): Refusal[] {
  if (one.body === undefined) return [];
  const forms = formsOf(one.body);
  return [
    ...[null, [], CANARY, 1].map((body) =>
      invalid(one, `body: ${JSON.stringify(body)} in place of an object`, '/body', { body }),
    ),
    ...forms.flatMap(({ base, form }) => [
      ...(isClosed(form)
        ? [invalid(one, 'body: unknown member', '/body', { body: { ...base, bogus: CANARY } })]
        : []),
      ...Object.entries(form.shape).flatMap(([name, schema]) => {
        if (name in base) return [];
        const misfit = MISFITS.find((value) => !isAccepted(schema as z.ZodType, value));
        const refusals =
          misfit === undefined
            ? []
            : [
                invalid(one, `body: ${name} mistyped`, `/body/${name}`, {
                  body: { ...base, [name]: misfit },
                }),
              ];
        if (isAccepted(schema as z.ZodType, undefined)) return refusals;
        return [
          ...refusals,
          invalid(one, `body: ${name} missing`, `/body/${name}`, { body: base }),
        ];
      }),
    ]),
  ];
}

/** Whether a form refuses members that it does not name. */
function isClosed(form: z.ZodObject): boolean {
  return !form
    .safeParse({ bogus: CANARY })
    .error?.issues.every(({ code }) => code !== 'unrecognized_keys');
}

/** The texts that are not strict JSON, each with its code. */
const TEXTS: readonly (readonly [
  name: string,
  status: number,
  code: string,
  raw: string | Uint8Array<ArrayBuffer>,
])[] = [
  ['no text', 400, 'syntax', ''],
  ['a cut text', 400, 'syntax', '{"reason":'],
  ['a byte order mark', 400, 'bad_input', new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0x7d])],
  ['bytes that are not UTF-8', 400, 'bad_input', new Uint8Array([0x22, 0xff, 0x22])],
  ['a duplicate key', 400, 'bad_input', '{"a":1,"\\u0061":2}'],
  ['an unsafe integer', 400, 'bad_input', '{"a":9007199254740993}'],
  ['a lone surrogate', 400, 'bad_input', '{"a":"\\ud800"}'],
  ['too deep', 400, 'too_complex', `${'['.repeat(30_000)}${']'.repeat(30_000)}`],
];

function ofTexts(one: Operation): Refusal[] {
  if (one.body === undefined) return [];
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=utf-16',
    '',
  ];
  const large = `"${'x'.repeat(Math.max(one.bodyBytes ?? 0, 1_048_576) + 50_000)}"`;
  const values = `[${'0,'.repeat(400_000)}0]`;
  // A body of an agent has at most the bytes of a proposal, if the operation names no other number.
  const isProposal = principalOf(one).startsWith('agent:') && one.bodyBytes === undefined;
  const many = isProposal
    ? (['too many values', 413, 'too_large', values] as const)
    : (['too many values', 400, 'too_complex', values] as const);
  return [
    ...[...TEXTS, many, ['too large', 413, 'too_large', large] as const].map(
      ([name, status, code, raw]): Refusal => ({
        name: `body: ${name}`,
        ...{ status, code },
        ask: (server) => asked(server, one, { token: server.tokens[principalOf(one)], raw }),
      }),
    ),
    ...types.map(
      (type): Refusal => ({
        name: `body: content type ${type || 'absent'}`,
        status: 415,
        code: 'unsupported_media_type',
        ask: (server) =>
          asked(server, one, {
            token: server.tokens[principalOf(one)],
            raw: new TextEncoder().encode('{}'),
            headers: { 'content-type': type },
          }),
      }),
    ),
    ...['{"__proto__":{"polluted":1}}', '{"constructor":{"prototype":{"polluted":1}}}'].map(
      (raw): Refusal => ({
        name: `body: ${raw}`,
        status: 400,
        code: 'invalid_request',
        ask: async (server) => {
          const answer = await asked(server, one, { token: server.tokens[principalOf(one)], raw });
          if ('polluted' in {}) throw new Error('The prototype of all objects has changed.');
          return answer;
        },
      }),
    ),
  ];
}

function ofHosts(one: Operation): Refusal[] {
  const refused = (name: string, hosts: (server: TestServer) => readonly string[]): Refusal => ({
    name,
    status: 421,
    code: 'bad_host',
    ask: async (server) => {
      const head = headOf(one.method.toUpperCase(), pathOf(one), [
        ...hosts(server).map((host) => `Host: ${host}`),
        `Authorization: Bearer ${server.tokens[principalOf(one)]}`,
        'Connection: close',
      ]);
      const [answer] = await sendRaw(server.port, head, '\r\n');
      if (answer === undefined)
        throw new Error('The server closed the connection without an answer.');
      return { ...answer, type: /content-type: (.*)/i.exec(answer.header)?.[1] ?? '' };
    },
  });
  return [
    refused('another host', () => ['evil.example']),
    refused('another port', () => ['127.0.0.1:1']),
    refused('two hosts', ({ port }) => [`127.0.0.1:${port}`, 'evil.example']),
  ];
}

interface Parts {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
}

function invalid(
  one: Operation,
  name: string,
  finding: string,
  { path, query = '', body }: Parts,
): Refusal {
  return {
    ...{ name, finding },
    status: 400,
    code: 'invalid_request',
    ask: (server) =>
      asked(
        server,
        one,
        {
          token: server.tokens[principalOf(one)],
          ...(one.body !== undefined && { body: body === undefined ? {} : body }),
        },
        `${pathOf(one, path)}${query === '' ? '' : `?${query}`}`,
      ),
  };
}

async function asked(server: TestServer, one: Operation, asking: Asking, path = pathOf(one)) {
  const given =
    one.body !== undefined && asking.body === undefined && asking.raw === undefined
      ? { body: {} }
      : {};
  const { headers, ...answer } = await server.ask(one.method.toUpperCase(), path, {
    ...given,
    ...asking,
  });
  return { ...answer, type: headers.get('content-type') ?? '' };
}

/** A path that the schema of the operation accepts. Parts of it can be given. */
export function pathOf(one: Operation, given: Readonly<Record<string, string>> = {}): string {
  return one.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const schema = one.params?.shape[name] as z.ZodType | undefined;
    if (schema === undefined) throw new Error(`${one.id} has no schema for {${name}}.`);
    const text = given[name] ?? PARAMETERS.find((candidate) => isAccepted(schema, candidate));
    if (text === undefined)
      throw new Error(`${one.id}: add a text that {${name}} accepts to PARAMETERS.`);
    return encodeURIComponent(text);
  });
}

/** A principal that may use the operation. */
export function principalOf({ kinds, id }: Operation): PrincipalName {
  const found = (Object.keys(PRINCIPALS) as PrincipalName[]).find((name) => isOneOf(name, kinds));
  if (found === undefined) throw new Error(`No principal of the tests may use ${id}.`);
  return found;
}

function isOneOf(name: PrincipalName, kinds: readonly PrincipalKind[]): boolean {
  return PRINCIPALS[name].kinds.some((kind) => kinds.includes(kind));
}

/** The objects that a body can be, each with the member that chooses it. */
function formsOf(
  schema: z.ZodType,
): { readonly base: Record<string, unknown>; readonly form: z.ZodObject }[] {
  if (schema instanceof z.ZodObject) return [{ base: {}, form: schema }];
  if (schema instanceof z.ZodDiscriminatedUnion)
    return (schema.options as z.ZodObject[]).map((form) => {
      const name = schema.def.discriminator;
      const [value] = (form.shape[name] as z.ZodLiteral).values;
      return { base: { [name]: value }, form };
    });
  throw new Error('A body is an object, or a choice of objects by one member.');
}

function isAccepted(schema: z.ZodType, value: unknown): boolean {
  return schema.safeParse(value).success;
}
