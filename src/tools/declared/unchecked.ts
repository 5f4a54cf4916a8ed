import type { Json } from '#canon';

type Schema = Readonly<Record<string, Json>>;

/** What limits values of one type, and is passed over where no type is said. */
const LIMITS = [
  ...['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames'],
  ...['minProperties', 'maxProperties', 'items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems'],
  ...['uniqueItems', 'contains', 'minContains', 'maxContains', 'minLength', 'maxLength', 'pattern', 'format'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
];
const COMPOSED = ['anyOf', 'oneOf', 'allOf'];
const UNKNOWN = ['dependencies', '$dynamicRef', '$recursiveRef'];

/** What each has to be, where it is no schema; of another sort it would be as if it were not there. */
const SORTS: readonly (readonly [sort: string, keywords: readonly string[], isIt: (value: Json) => boolean])[] = [
  [
    'a number',
    ['minProperties', 'maxProperties', 'minItems', 'maxItems', 'minContains', 'maxContains', 'minLength', 'maxLength'],
    isNumber,
  ],
  ['a number', ['minimum', 'maximum', 'multipleOf'], isNumber],
  ['a number', ['exclusiveMinimum', 'exclusiveMaximum'], (value) => isNumber(value) || typeof value === 'boolean'],
  ['a text', ['pattern', 'format'], (value) => typeof value === 'string'],
  ['true or false', ['uniqueItems'], (value) => typeof value === 'boolean'],
  ['a list', ['required', ...COMPOSED], Array.isArray],
];

/** Where schemas stand in a schema: by themselves or in a list, and by names. */
const WITHIN = [
  'items',
  'prefixItems',
  'additionalItems',
  'additionalProperties',
  'contains',
  'propertyNames',
  ...COMPOSED,
];
const BY_NAME = ['properties', 'patternProperties', '$defs', 'definitions'];

/**
 * What of a JSON Schema would be checked by nobody, with its place, or undefined. The zod schema that is made of it passes over keywords that
 * stand where it does not look for them: a limit would be none. What it can't do at all it refuses itself.
 */
export function uncheckedIn(schema: Json, at = ''): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  const given = schema as Schema;
  const problem = Array.isArray(schema) ? undefined : problemOf(given);
  if (problem !== undefined) return at === '' ? problem : `at ${at}, ${problem}`;
  const inner = Array.isArray(schema) ? Object.entries(schema) : schemasIn(given);
  for (const [place, each] of inner) {
    const found = uncheckedIn(each, `${at}/${place}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function schemasIn(schema: Schema): (readonly [place: string, schema: Json])[] {
  const named = BY_NAME.filter((keyword) => Object.hasOwn(schema, keyword)).flatMap((keyword) =>
    Object.entries(schema[keyword] ?? {}).map(([name, each]) => [`${keyword}/${name}`, each] as const),
  );
  const within = WITHIN.filter((keyword) => Object.hasOwn(schema, keyword)).map(
    (keyword) => [keyword, keyword === 'propertyNames' ? textOf(schema[keyword]!) : schema[keyword]!] as const,
  );
  return [...named, ...within];
}

/** A name is a text, whether that is said or not. */
function textOf(schema: Json): Json {
  return typeof schema === 'object' && schema !== null ? { type: 'string', ...schema } : schema;
}

function problemOf(schema: Schema): string | undefined {
  const has = (keyword: string): boolean => Object.hasOwn(schema, keyword);
  const [unknown] = UNKNOWN.filter(has);
  if (unknown !== undefined) return `${unknown} is checked by nobody`;
  for (const [sort, keywords, isIt] of SORTS) {
    const odd = keywords.find((keyword) => has(keyword) && !isIt(schema[keyword]!));
    if (odd !== undefined) return `${odd} has to be ${sort}`;
  }
  const limits = LIMITS.filter(has);
  const composed = COMPOSED.filter(has);
  const whole = ['$ref', 'enum', 'const'].find(has);
  const beside = [...limits, ...(whole === '$ref' ? ['type', 'enum', ...composed] : []), 'const'].filter(has);
  const [passedOver] = beside.filter((keyword) => keyword !== whole);
  if (whole !== undefined)
    return passedOver === undefined ? undefined : `${passedOver} is checked by nobody beside ${whole}`;
  if (!has('type')) return untyped(limits, composed);
  return problemOfTyped(schema, composed);
}

function untyped([limit]: readonly string[], [first, second]: readonly string[]): string | undefined {
  if (limit !== undefined) return `${limit} is checked by nobody without a type; say which it is for`;
  if (second !== undefined) return `${first} is checked by nobody beside ${second}; say the type of both`;
  return undefined;
}

function problemOfTyped(schema: Schema, [composed]: readonly string[]): string | undefined {
  const { properties = {}, required = [], additionalProperties = true, patternProperties, items, prefixItems } = schema;
  const stray = (required as readonly Json[]).find((name) => !Object.hasOwn(properties as object, String(name)));
  if (stray !== undefined) return `required names ${JSON.stringify(stray)}, which properties has not; add it there`;
  if (additionalProperties !== true && composed !== undefined)
    return `additionalProperties is checked by nobody beside ${composed}; say it in each of those`;
  if (typeof additionalProperties === 'object' && patternProperties !== undefined)
    return 'additionalProperties is checked by nobody beside patternProperties, but for false';
  const [count] = ['minItems', 'maxItems'].filter((keyword) => Object.hasOwn(schema, keyword));
  if (count !== undefined && items === undefined && prefixItems === undefined)
    return `${count} is checked by nobody without items; say true where they may be anything`;
  return undefined;
}

function isNumber(value: Json): boolean {
  return typeof value === 'number';
}
