import type { Tool } from '@modelcontextprotocol/server';
import type { Json } from 'assize/internal/base';
import { hashText } from 'assize/internal/canon';
import { z } from 'zod';
import type { Offered } from './offered.ts';

/** The part of an operation of the HTTP API that a client must know. */
export interface ServedOperation {
  readonly id: string;
  readonly method: string;
  /** Each name in braces is a member of `params`. */
  readonly path: string;
  readonly summary: string;
  readonly kinds: readonly string[];
  readonly params?: z.ZodObject | undefined;
  readonly query?: z.ZodObject | undefined;
  readonly body?: z.ZodType | undefined;
  readonly needsKey?: boolean | undefined;
}

/** A request to the API. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** The header `Idempotency-Key`. */
  readonly key?: string;
}

/** An operation as a tool of a model. */
export interface OperationTool {
  readonly tool: Tool;
  readonly offered: Offered;
  readonly operation: ServedOperation;
}

/** How many items a list has if the model does not say. */
const LIMIT_DEFAULT = 20;

type Schema = Readonly<Record<string, unknown>>;

/**
 * The tools of the offered operations, in their order. Names, descriptions and schemas come from
 * the table.
 */
export function operationTools(
  operations: readonly ServedOperation[],
  offered: readonly Offered[],
): readonly OperationTool[] {
  const byId = new Map(operations.map((one) => [one.id, one]));
  return offered.flatMap((one) => {
    const operation = byId.get(one.id);
    if (operation === undefined) return [];
    const tool: Tool = {
      name: one.id.replaceAll('.', '_'),
      title: one.title,
      description: `${forModels(operation.summary)} ${one.use}`,
      inputSchema: inputSchemaOf(operation) as Tool['inputSchema'],
      annotations: {
        readOnlyHint: one.records !== true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
    };
    return [{ tool, offered: one, operation }];
  });
}

/** A summary without the sentences about headers, because a model cannot send headers. */
function forModels(summary: string): string {
  return summary.replaceAll(/(?<=\. )[^.]*`Prefer: [^.]*\.( |$)/g, '').trim();
}

/**
 * The request of a call with its arguments, or the fault of the arguments as text. The server
 * checks their values.
 */
export function requestOf(
  operation: ServedOperation,
  args: Readonly<Record<string, unknown>>,
): ApiRequest | string {
  const { params, query, body } = partsOf(operation);
  const known = new Set([...Object.keys(params), ...Object.keys(query), ...Object.keys(body)]);
  const unknown = Object.keys(args).find((name) => !known.has(name));
  if (unknown !== undefined) {
    const names = known.size === 0 ? 'There are none.' : `There are: ${[...known].join(', ')}.`;
    return `There is no argument ${JSON.stringify(unknown)}. ${names}`;
  }
  let path = operation.path;
  for (const name of Object.keys(params)) {
    const value = args[name];
    const isSegment =
      (typeof value === 'string' || typeof value === 'number') && !/^\.{0,2}$/.test(String(value));
    if (!isSegment) return `The argument ${name} is missing, or is not a name.`;
    path = path.replace(`{${name}}`, () => segmentOf(String(value)));
  }
  const search = new URLSearchParams();
  for (const name of Object.keys(query)) {
    const value = given(args, name);
    if (value !== undefined && value !== null) search.set(name, queryText(value));
  }
  const members = Object.keys(body).flatMap((name): [string, unknown][] => {
    const value = given(args, name);
    return value === undefined ? [] : [[name, value]];
  });
  return {
    method: operation.method.toUpperCase(),
    path: search.size === 0 ? path : `${path}?${search}`,
    ...(operation.body !== undefined && { body: Object.fromEntries(members) }),
    // The same call is the same request.
    ...(operation.needsKey === true && { key: keyOf(path, members) }),
  };
}

function keyOf(path: string, members: readonly (readonly [string, unknown])[]): string {
  return hashText(
    JSON.stringify([path, [...members].sort(([a], [b]) => (a < b ? -1 : 1))]).toWellFormed(),
  );
}

/** A half of a surrogate pair has no place in an address. */
function segmentOf(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function given(args: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(args, name)) return args[name];
  return name === 'limit' ? LIMIT_DEFAULT : undefined;
}

function queryText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function partsOf({ params, query, body }: ServedOperation) {
  return { params: params?.shape ?? {}, query: query?.shape ?? {}, body: shapeOf(body) };
}

/** Bodies of offered operations are objects. */
function shapeOf(body: z.ZodType | undefined): Readonly<Record<string, z.ZodType>> {
  return ((body as z.ZodObject | undefined)?.shape as Record<string, z.ZodType> | undefined) ?? {};
}

/** One flat schema of the path, the query and the body of an operation. */
export function inputSchemaOf(operation: ServedOperation): Schema {
  const { params, query, body } = partsOf(operation);
  const {
    $schema: _version,
    $defs = {},
    ...form
  } = z.toJSONSchema(z.strictObject({ ...params, ...query, ...body }), {
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
  }) as Schema & { readonly $defs?: Readonly<Record<string, Json>> };
  const { properties = {}, ...rest } = inlined(form as Json, $defs) as {
    readonly properties?: Readonly<Record<string, Schema>>;
  };
  const isText = new Set([...Object.keys(params), ...Object.keys(query)]);
  const shown = Object.entries(properties).map(([name, schema]) => [
    name,
    name === 'limit'
      ? limitForm(schema)
      : described(name, isText.has(name) ? plainForm(schema) : schema),
  ]);
  return { ...rest, properties: Object.fromEntries(shown) };
}

/** A schema without references: not every client of MCP follows them. */
function inlined(value: Json, definitions: Readonly<Record<string, Json>>): Json {
  if (Array.isArray(value)) return value.map((item) => inlined(item, definitions));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, id, ...rest } = value as Readonly<Record<string, Json>>;
  const own = Object.fromEntries(
    Object.entries(rest).map(([key, member]) => [key, inlined(member, definitions)]),
  );
  // `id` is the name of a component, or the property of that name.
  if (id !== undefined && typeof id !== 'string') own['id'] = inlined(id, definitions);
  if (typeof $ref !== 'string') return own;
  const named = definitions[$ref.replace('#/$defs/', '')] ?? {};
  return { ...(inlined(named, definitions) as Readonly<Record<string, Json>>), ...own };
}

/** The arguments that many operations share, for schemas that do not describe them. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  trajectory: 'a `trajectory_id` of trajectories_list',
  entry: 'an entry: its id, or TRAJECTORY@SEQ',
  from: 'an entry: its id, or TRAJECTORY@SEQ',
  to: 'an entry: its id, or TRAJECTORY@SEQ',
  approval: 'the `id` of an item of approvals_list',
  space: 'a space of `memory_spaces` of trajectories_get',
  fact: 'the `fact_id` of a fact',
  epoch: 'the `epoch` of a transaction of effects_list',
  domain: 'the name of a domain, as domains_list has it',
  pointer: 'a JSON pointer; default: the whole state',
};

/** A schema with words for a model. Lengths of names are the server's concern. */
function described(name: string, { minLength, maxLength, ...schema }: Schema): Schema {
  const words = ARGUMENTS[name];
  return {
    ...schema,
    ...(schema['description'] === undefined && words !== undefined && { description: words }),
  };
}

/** A query has texts only. A model says numbers and truth values. */
function plainForm(schema: Schema): Schema {
  const { type, pattern, enum: values, description } = schema;
  const described = description === undefined ? {} : { description };
  if (type === 'string' && pattern === '^\\d{1,15}$')
    return { type: 'integer', minimum: 0, ...described };
  if (Array.isArray(values) && values.join() === 'true,false')
    return { type: 'boolean', ...described };
  return schema;
}

function limitForm(schema: Schema): Schema {
  const { description: _other, ...form } = plainForm(schema);
  return { ...form, minimum: 1, description: `how many at most; default ${LIMIT_DEFAULT}` };
}
