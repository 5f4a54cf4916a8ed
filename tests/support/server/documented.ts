import { OPERATIONS, openApiDocument } from '#server';
import type { Answered } from './serving.ts';

const PATHS: Readonly<Record<string, any>> = (
  openApiDocument(OPERATIONS, 'http://localhost') as any
).paths;
const ROUTES = Object.entries(PATHS).map(([path, methods]) => ({
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  fixed: !path.includes('{'),
  methods,
}));

/**
 * The difference of an answer from the OpenAPI document: its status, its media type, or the code of
 * its problem. Undefined for a documented answer, and for a route that is not an operation.
 */
export function undocumented(
  method: string,
  path: string,
  { status, headers, body }: Answered,
): string | undefined {
  const place = path.split('?')[0] as string;
  const found = ROUTES.filter(
    ({ pattern, methods }) => pattern.test(place) && method.toLowerCase() in methods,
  );
  const route = found.find(({ fixed }) => fixed) ?? found[0];
  if (route === undefined || status === 304) return undefined;
  const { operationId, responses } = route.methods[method.toLowerCase()];
  const type = (headers.get('content-type') ?? '').split(';')[0] as string;
  const told = responses[status];
  const what = `${operationId}: ${status} ${type} ${body?.code ?? ''}`;
  if (told === undefined) return status === 500 ? undefined : `${what}: no such status`;
  if (!(type in told.content)) return `${what}: no such media type`;
  if (type !== 'application/problem+json') return undefined;
  const codes: string[] = told.description.replace(/^Codes: |\.$/g, '').split(', ');
  return codes.includes(body?.code) ? undefined : `${what}: no such code`;
}
