import type { Json } from 'assize/internal/base';

export type Schema = Readonly<Record<string, Json>>;

/** Keywords of all drafts whose value is a schema, a list of schemas, or schemas by name. */
const ONE = [
  ...[
    'items',
    'additionalItems',
    'unevaluatedItems',
    'contains',
    'additionalProperties',
    'unevaluatedProperties',
  ],
  ...['propertyNames', 'not', 'if', 'then', 'else', 'contentSchema'],
];
const LIST = ['items', 'prefixItems', 'allOf', 'anyOf', 'oneOf'];
const BY_NAME = [
  'properties',
  'patternProperties',
  'dependentSchemas',
  'dependencies',
  '$defs',
  'definitions',
];

/** Every schema in a schema with its place, as the keywords and names that lead to it. */
export function* schemasIn(
  schema: Json,
  place: readonly string[] = [],
): Generator<[readonly string[], Schema]> {
  if (!isSchema(schema)) return;
  yield [place, schema];
  for (const keyword of ONE) yield* schemasIn(schema[keyword] ?? null, [...place, keyword]);
  for (const keyword of LIST) {
    const list = schema[keyword];
    if (Array.isArray(list))
      for (const [n, each] of list.entries()) yield* schemasIn(each, [...place, keyword, `${n}`]);
  }
  for (const keyword of BY_NAME) {
    const named = schema[keyword] ?? null;
    if (!isSchema(named)) continue;
    for (const [name, each] of Object.entries(named))
      yield* schemasIn(each, [...place, keyword, name]);
  }
}

export function isSchema(value: Json): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The JSON pointer of a place. */
export function pointerOf(place: readonly string[]): string {
  return place.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
