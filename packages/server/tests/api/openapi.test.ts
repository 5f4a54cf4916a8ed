/** The OpenAPI document: valid, complete, and without references to nothing. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { start } from '../../../../tests/support/server/serving.ts';
import { OPERATIONS, openApiDocument } from '../../src/index.ts';

const document: any = openApiDocument(OPERATIONS, 'http://127.0.0.1:4517');

function nodesOf(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.values(value).flatMap(nodesOf);
  return Array.isArray(value) ? below : [value as Record<string, unknown>, ...below];
}

test('the document is valid OpenAPI 3.1', async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  expect(errors ?? []).toEqual([]);
  expect(valid).toBe(true);
  expect(document.openapi).toMatch(/^3\.1\./);
});

test('the validator finds a broken document', async () => {
  const broken = structuredClone(document);
  broken.paths['/v1/me'].get.responses = 'none';
  expect((await new Validator().validate(broken)).valid).toBe(false);
});

test('each operation is in it, with its parameters, body and answers', () => {
  const described = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods).map(
      ([method, { operationId }]) => `${operationId} ${method} ${path}`,
    ),
  );
  const others = ['events.stream get /v1/events', 'metrics.get get /metrics'];
  const health = ['health.get get /healthz', 'health.ready get /readyz'];
  const all = OPERATIONS.map(({ id, method, path }) => `${id} ${method} ${path}`);
  expect(described.sort()).toEqual([...all, ...others, ...health].sort());
  for (const one of OPERATIONS) {
    const { parameters, requestBody, responses, summary } = document.paths[one.path][one.method];
    expect(summary, one.id).toBe(one.summary);
    const named = (where: string) =>
      parameters.filter((given: any) => given.in === where).map(({ name }: any) => name);
    expect(named('path').sort(), one.id).toEqual(Object.keys(one.params?.shape ?? {}).sort());
    expect(named('path').sort(), one.id).toEqual(
      [...one.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort(),
    );
    expect(named('query').sort(), one.id).toEqual(Object.keys(one.query?.shape ?? {}).sort());
    expect(requestBody === undefined, one.id).toBe(one.body === undefined);
    for (const status of [...(one.statuses ?? [200]), 400, 401, 403, 429, 503])
      expect(responses, `${one.id} ${status}`).toHaveProperty(`${status}`);
    expect(responses[401].content).toHaveProperty('application/problem+json');
  }
});

test('a proposal has one answer as JSON, and interrupts as another type', () => {
  const { responses, parameters } = document.paths['/v1/trajectories/{trajectory}/proposals'].post;
  const ruling = { schema: { $ref: '#/components/schemas/Ruling' } };
  expect(responses[200].content).toEqual({ 'application/json': ruling });
  expect(responses[202].content).toEqual({
    'application/json': ruling,
    'application/vnd.ag-ui+json': { schema: { $ref: '#/components/schemas/AgUiInterrupt' } },
  });
  expect(parameters.map(({ name }: any) => name)).toEqual([
    'trajectory',
    'Idempotency-Key',
    'Prefer',
  ]);
});

test('each reference resolves, and no component is unused', () => {
  const references = nodesOf(document).flatMap(({ $ref }) =>
    typeof $ref === 'string' ? [$ref] : [],
  );
  const known = Object.keys(document.components.schemas).map(
    (name) => `#/components/schemas/${name}`,
  );
  expect(references.filter((one) => !known.includes(one))).toEqual([]);
  expect(known.filter((one) => !references.includes(one))).toEqual([]);
  expect(nodesOf(document).filter((node) => '$defs' in node || '$schema' in node)).toEqual([]);
});

test('the server answers with the same document to anyone, and nothing else', async () => {
  const server = await start();
  const { status, body, headers } = await server.ask('GET', '/openapi.json');
  expect({ status, type: headers.get('content-type') }).toEqual({
    status: 200,
    type: 'application/json',
  });
  expect(body).toEqual(JSON.parse(JSON.stringify(openApiDocument(OPERATIONS, server.url))));
  // Each answer to `ask` is compared with the document.
  for (const path of ['/healthz', '/readyz'])
    expect((await server.ask('GET', path)).status).toBe(200);
  const token = server.tokens['auditor:eve'];
  expect((await server.ask('GET', '/metrics', { token })).text).toContain(
    'assize_approvals_waiting 0',
  );
  expect((await server.ask('GET', '/metrics')).status).toBe(401);
  expect(
    (await server.ask('GET', '/v1/events', { token: server.tokens['agent:scout'] })).status,
  ).toBe(403);
  expect(server.undocumented).toEqual([]);
});
