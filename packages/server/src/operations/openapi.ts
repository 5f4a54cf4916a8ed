import { findingForm, type Operation, READERS } from '@assize/command/operation';
import { z } from 'zod';
import { codesWithStatus } from '../problems/status.ts';

type JsonObject = Record<string, unknown>;

/** Refusals that every operation can give. */
const COMMON = [
  ...[
    'invalid_request',
    'unauthenticated',
    'forbidden',
    'bad_origin',
    'bad_host',
    'too_fast',
    'stopping',
  ],
  'request_timeout',
  'invalid_ledger',
] as const;
/** The server or its store cannot answer now. */
const UNAVAILABLE = [...codesWithStatus()].flatMap(([code, status]) =>
  status === 503 ? [code] : [],
);

/** The refusals of a trajectory: of every reading, and of every entry. */
const OF_TRAJECTORY = ['not_found', 'domain_mismatch', 'erased'] as const;
const OF_ENTRY = [
  'imported_trajectory',
  'concluded',
  'conflict',
  'halted',
  'other_cell',
  'tenant_halted',
] as const;

const WITH_BODY = [
  'unsupported_media_type',
  'too_large',
  'too_complex',
  'syntax',
  'bad_input',
] as const;

/** The OpenAPI 3.1 document of the operations. Schemas with an id are components. */
export function openApiDocument(operations: readonly Operation[], url: string): JsonObject {
  const schemas = new Schemas();
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const one of operations) {
    const path = paths[one.path] ?? {};
    paths[one.path] = path;
    path[one.method] = operationObject(one, schemas);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Assize',
      version: '1',
      description:
        'Agents propose, a deterministic kernel decides, people approve, and one hash-chained ledger records it all.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url }],
    security: [{ bearer: [] }, { session: [] }],
    tags: [...new Set([...operations.map(tagOf), 'events', 'metrics', 'health'])].map((name) => ({
      name,
    })),
    paths: { ...paths, ...otherPaths(schemas) },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: '__Host-assize' },
      },
      schemas: schemas.components,
    },
  };
}

function operationObject(one: Operation, schemas: Schemas): JsonObject {
  const {
    id,
    summary,
    kinds,
    params,
    query,
    body,
    answer,
    statuses = [200],
    isLines = false,
    errors = [],
  } = one;
  const { accepted, isWaiting } = one;
  const media = one.media ?? (isLines ? 'application/jsonl' : 'application/json');
  const isOfTrajectory = OF_TRAJECTORIES.some((part) => one.path.includes(part));
  const refused = [
    ...[...COMMON, ...UNAVAILABLE, ...errors],
    ...(body === undefined ? [] : WITH_BODY),
    ...(one.needsKey === true ? ['invalid_request'] : []),
    ...(one.needsKey === true || one.proposalsOf !== undefined ? ['too_busy'] : []),
    ...(isOfTrajectory ? OF_TRAJECTORY : []),
    ...(isOfTrajectory && one.method === 'post' ? OF_ENTRY : []),
  ];
  return {
    operationId: id,
    summary,
    description: `For: ${kinds.join(', ')}.`,
    tags: [tagOf(one)],
    parameters: [
      ...parametersOf(params, 'path', schemas),
      ...parametersOf(query, 'query', schemas),
      ...(one.needsKey === true
        ? [
            {
              name: 'Idempotency-Key',
              in: 'header',
              required: true,
              schema: { type: 'string', minLength: 1, maxLength: 512 },
            },
          ]
        : []),
      ...(isWaiting === true ? [PREFER] : []),
    ],
    ...(body !== undefined && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: schemas.of(body, 'input') } },
      },
    }),
    responses: {
      ...Object.fromEntries(
        statuses.map((status) => [
          status,
          {
            description: DESCRIPTIONS[status],
            content: {
              [media]: { schema: schemas.of(answer, 'input') },
              ...(status === 202 &&
                accepted && { [accepted.media]: { schema: schemas.of(accepted.answer, 'input') } }),
            },
          },
        ]),
      ),
      ...problemsOf(refused, schemas),
    },
  };
}

const OF_TRAJECTORIES = ['/trajectories', '/approvals', '/effects', '/entries'] as const;

const PREFER = {
  name: 'Prefer',
  in: 'header',
  description:
    '`wait=N`: wait up to N seconds for the decision, and for the calls of its commit. At most 300.',
  schema: { type: 'string', pattern: '^wait=\\d{1,3}$' },
};

/** The routes outside the table of operations: events, health and metrics. */
function otherPaths(schemas: Schemas): Record<string, Record<string, JsonObject>> {
  const text = { type: 'string' };
  const health = (status: string) => ({
    content: {
      'application/json': { schema: { type: 'object', properties: { status: { const: status } } } },
    },
  });
  const route = (
    id: string,
    summary: string,
    answer: JsonObject,
    refused: readonly string[],
    more: JsonObject,
  ) => ({
    get: {
      ...{ operationId: id, summary, tags: [id.split('.')[0]], ...more },
      responses: {
        200: { description: 'The answer.', ...answer },
        ...problemsOf(refused, schemas),
      },
    },
  });
  const parameter = (name: string, description: string, where = 'query') => ({
    ...{ name, in: where, description },
    schema: text,
  });
  const asked = ['unauthenticated', 'forbidden', 'bad_host', 'stopping'];
  const probed = { description: 'For: anybody.', security: [], parameters: [] };
  return {
    '/v1/events': route(
      'events.stream',
      'Every entry of the log as a server-sent event, named as the kind of the entry.',
      { content: { 'text/event-stream': { schema: text } } },
      [...asked, 'bad_origin', 'invalid_request', 'too_many_open'],
      {
        description: `For: ${READERS.join(', ')}.`,
        parameters: [
          parameter('trajectory', 'only entries of this trajectory'),
          parameter('kind', 'only entries of this kind'),
          parameter('last_event_id', 'as the header Last-Event-ID'),
          parameter(
            'Last-Event-ID',
            'the id of the last event; -1: from the first entry',
            'header',
          ),
        ],
      },
    ),
    '/metrics': route(
      'metrics.get',
      'The metrics of this process, for Prometheus.',
      { content: { 'text/plain': { schema: text } } },
      asked,
      { description: 'For: auditor, admin.', parameters: [] },
    ),
    '/healthz': route(
      'health.get',
      'Whether the process answers.',
      health('ok'),
      ['stopping'],
      probed,
    ),
    '/readyz': route(
      'health.ready',
      'Whether the server can answer requests now.',
      health('ready'),
      UNAVAILABLE,
      probed,
    ),
  };
}

const DESCRIPTIONS = { 200: 'The answer.', 201: 'Created.', 202: 'A person must decide.' } as const;

function parametersOf(
  part: z.ZodObject | undefined,
  where: 'path' | 'query',
  schemas: Schemas,
): JsonObject[] {
  return Object.entries(part?.shape ?? {}).map(([name, schema]) => {
    const { description, ...form } = schemas.of(schema as z.ZodType, 'input') as JsonObject;
    return {
      name,
      in: where,
      required: where === 'path' || !(schema as z.ZodType).safeParse(undefined).success,
      ...(description !== undefined && { description }),
      schema: form,
    };
  });
}

/** One response for each status, with the codes that it can have. */
function problemsOf(codes: readonly string[], schemas: Schemas): JsonObject {
  const statuses = codesWithStatus();
  const byStatus = new Map<number, string[]>();
  for (const code of new Set(codes)) {
    const status = statuses.get(code) ?? 500;
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const content = { 'application/problem+json': { schema: schemas.of(problemForm, 'input') } };
  return {
    ...Object.fromEntries(
      [...byStatus].map(([status, named]) => [
        status,
        { description: `Codes: ${named.join(', ')}.`, content },
      ]),
    ),
    default: { description: 'Another problem.', content },
  };
}

function tagOf({ id }: Operation): string {
  return id.split('.')[0] as string;
}

/** The schemas of a document. One with an id becomes a component, and is referred to. */
class Schemas {
  readonly components: JsonObject = {};

  of(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
    const {
      $schema: _version,
      $defs = {},
      ...form
    } = z.toJSONSchema(schema, {
      io,
      unrepresentable: 'any',
      reused: 'inline',
      target: 'draft-2020-12',
    }) as JsonObject & { readonly $defs?: JsonObject };
    for (const [name, definition] of Object.entries($defs))
      this.components[name] ??= placed(definition);
    const id = (schema.meta() as { readonly id?: string } | undefined)?.id;
    if (id === undefined || '$ref' in form) return placed(form) as JsonObject;
    const { id: _id, ...rest } = form as JsonObject;
    this.components[id] ??= placed(rest);
    return { $ref: `#/components/schemas/${id}` };
  }
}

/** A schema with its references to definitions as references to components. */
function placed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(placed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => !(name === 'id' && typeof member === 'string'))
      .map(([name, member]) => [
        name,
        name === '$ref' && typeof member === 'string'
          ? member.replace('#/$defs/', '#/components/schemas/')
          : placed(member),
      ]),
  );
}

/** The document of an error, RFC 9457. */
const problemForm = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    code: z.string().describe('stable; programs branch on it'),
    detail: z.string(),
    retryable: z.boolean(),
    findings: z.array(findingForm).optional(),
    detection_vector: z
      .array(
        z.looseObject({
          invariant_id: z.string(),
          result: z.string(),
          detail: z.string().optional(),
        }),
      )
      .optional()
      .describe('of an approval that breaks rules: the result of each rule'),
    request_id: z.string().optional(),
  })
  .meta({ id: 'Problem' });
