import type { Json } from '#base';

export type Schema = Readonly<Record<string, Json>>;

/** Keywords that limit values of one type, and are ignored without a type. */
const LIMITS = [
  ...['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames'],
  ...['minProperties', 'maxProperties', 'items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems'],
  ...['uniqueItems', 'contains', 'minContains', 'maxContains', 'minLength', 'maxLength', 'pattern', 'format'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
];
export const COMPOSED = ['anyOf', 'oneOf', 'allOf'];
const UNKNOWN = ['dependencies', '$dynamicRef', '$recursiveRef'];
/**
 * Formats of JSON Schema that are not checked. A name that JSON Schema does not define is an
 * annotation.
 */
const FORMATS: readonly Json[] = [
  ...['idn-email', 'idn-hostname', 'iri', 'iri-reference', 'uri-template', 'json-pointer', 'relative-json-pointer'],
  'regex',
];
/**
 * Pattern escapes that would be read as letters, because patterns are compiled without the flag
 * `u`.
 */
const BY_CODE_POINT = /(?<!\\)(?:\\\\)*\\[pPu]\{/;

/**
 * The required value type of each keyword that is not a schema. A value of another type would be
 * ignored.
 */
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
  ['a list', ['required', 'prefixItems', ...COMPOSED], Array.isArray],
];

/** Keywords that contain schemas: directly or in a list, and by name. */
export const WITHIN = [
  'items',
  'prefixItems',
  'additionalItems',
  'additionalProperties',
  'contains',
  'propertyNames',
  ...COMPOSED,
];
export const BY_NAME = ['properties', 'patternProperties', '$defs', 'definitions'];

/**
 * A part of a JSON Schema that would not be checked, with its location, or undefined. The derived
 * zod schema ignores keywords in places where it does not expect them, so a limit would have no
 * effect. The conversion itself refuses the keywords that it does not support.
 */
export function uncheckedIn(schema: Json): string | undefined {
  return passedOverIn(schema, '') ?? forgivenIn(schema as Schema);
}

function passedOverIn(schema: Json, at: string): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  const given = schema as Schema;
  const problem = Array.isArray(schema) ? undefined : problemOf(given);
  if (problem !== undefined) return at === '' ? problem : `at ${at}, ${problem}`;
  const inner = Array.isArray(schema) ? Object.entries(schema) : schemasIn(given);
  for (const [place, each] of inner) {
    const found = passedOverIn(each, `${at}/${place}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * A field that a single schema refuses is accepted if all of several schemas must match and another
 * schema accepts it. A schema that does not restrict its fields accepts any field. If schemas
 * combine, as in `allOf` or a choice with siblings, no schema may therefore restrict the fields.
 */
function forgivenIn(root: Schema): string | undefined {
  const [apart, met] = [new Set<Json>(), new Set<Json>()];
  const visit = (schema: Json, at: string, isMet: boolean): string | undefined => {
    const seen = isMet ? met : apart;
    if (typeof schema !== 'object' || schema === null || seen.has(schema)) return undefined;
    seen.add(schema);
    const given = schema as Schema;
    const composed = COMPOSED.filter((keyword) => Object.hasOwn(given, keyword));
    const meets =
      isMet || (composed.length > 0 && ['type', 'enum', 'const'].some((each) => Object.hasOwn(given, each)));
    const forgiven = meets ? ofMembers(given) : undefined;
    if (forgiven !== undefined)
      return `${at === '' ? '' : `at ${at}, `}${forgiven} is not checked if another schema must match too. Move it into a schema without sibling keywords`;
    const all: (readonly [place: string, schema: Json, isMet: boolean])[] = [];
    for (const keyword of composed) {
      const choice = given[keyword] as readonly Json[];
      // In `oneOf` a mismatch is final, because exactly one alternative must match.
      const isApart = keyword === 'oneOf' && choice.length > 1;
      const isWithin = !isApart && (meets || (keyword === 'allOf' && choice.length > 1));
      for (const [i, each] of choice.entries()) all.push([`${keyword}/${i}`, each, isWithin]);
    }
    if (typeof given['$ref'] === 'string') all.push(['$ref', referredTo(given['$ref'], root), isMet]);
    for (const [place, each] of schemasIn(given)) {
      if (COMPOSED.includes(place)) continue;
      if (Array.isArray(each)) for (const [i, one] of each.entries()) all.push([`${place}/${i}`, one, false]);
      else all.push([place, each, false]);
    }
    for (const [place, each, isOne] of all) {
      const found = visit(each, `${at}/${place}`, isOne);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return visit(root, '', false);
}

/** The keyword that restricts the fields, if any. */
function ofMembers({ additionalProperties, propertyNames = true }: Schema): string | undefined {
  if (additionalProperties === false) return 'additionalProperties';
  return propertyNames === true ? undefined : 'propertyNames';
}

/** The supported targets of a reference: the root, or one of its definitions. */
function referredTo(reference: string, root: Schema): Json {
  const [, , name] = reference.split('/');
  if (name === undefined) return root;
  const defined = (root['$defs'] ?? root['definitions']) as Schema;
  return defined[name.replaceAll('~1', '/').replaceAll('~0', '~')] ?? null;
}

/**
 * Removes a type `object` that adds nothing, because all alternatives of the schema state it. The
 * alternatives then stand alone, and each can restrict its fields.
 */
export function withoutIdleType(schema: Schema): Schema {
  const { type, ...rest } = schema;
  const composed = COMPOSED.filter((keyword) => Object.hasOwn(rest, keyword));
  const choice = composed.length === 1 && composed[0] !== 'allOf' ? rest[composed[0]!] : undefined;
  const isIdle = [...LIMITS, 'enum', 'const', '$ref', 'default'].every((keyword) => !Object.hasOwn(rest, keyword));
  if (type !== 'object' || !isIdle || !Array.isArray(choice)) return schema;
  return choice.every((each) => (each as Schema | null)?.['type'] === 'object') ? rest : schema;
}

export function schemasIn(schema: Schema): (readonly [place: string, schema: Json])[] {
  const named = BY_NAME.filter((keyword) => Object.hasOwn(schema, keyword)).flatMap((keyword) =>
    Object.entries(schema[keyword] ?? {}).map(([name, each]) => [`${keyword}/${name}`, each] as const),
  );
  const within = WITHIN.filter((keyword) => Object.hasOwn(schema, keyword)).map(
    (keyword) => [keyword, keyword === 'propertyNames' ? textOf(schema[keyword]!) : schema[keyword]!] as const,
  );
  return [...named, ...within];
}

/** A property name is a string, with or without a type. */
function textOf(schema: Json): Json {
  return typeof schema === 'object' && schema !== null ? { type: 'string', ...schema } : schema;
}

function problemOf(schema: Schema): string | undefined {
  const has = (keyword: string): boolean => Object.hasOwn(schema, keyword);
  const [unknown] = UNKNOWN.filter(has);
  if (unknown !== undefined) return `${unknown} is not checked`;
  if (has('$ref') && !/^#(\/(\$defs|definitions)\/[^/]+)?\/?$/.test(String(schema['$ref'])))
    return '$ref must be # or name one of $defs: a deeper pointer would be checked as the whole definition. Give the part its own name in $defs';
  for (const [sort, keywords, isIt] of SORTS) {
    const odd = keywords.find((keyword) => has(keyword) && !isIt(schema[keyword]!));
    if (odd !== undefined) return `${odd} must be ${sort}`;
  }
  const format = schema['format'];
  if (FORMATS.includes(format ?? null)) return `the format ${format} is not checked. Use a pattern`;
  const patterns = [schema['pattern'], ...Object.keys(schema['patternProperties'] ?? {})];
  if (patterns.some((each) => BY_CODE_POINT.test(String(each))))
    return 'a pattern has \\p{…} or \\u{…}, which are read as the letters p and u. Write the characters themselves, or \\uXXXX';
  const limits = LIMITS.filter(has);
  const composed = COMPOSED.filter(has);
  const whole = ['$ref', 'enum', 'const'].find(has);
  const beside = [...limits, ...(whole === '$ref' ? ['type', 'enum', ...composed] : []), 'const'].filter(has);
  const [passedOver] = beside.filter((keyword) => keyword !== whole);
  if (whole !== undefined)
    return passedOver === undefined ? undefined : `${passedOver} is not checked next to ${whole}`;
  if (!has('type')) return untyped(limits, composed);
  return problemOfTyped(schema, composed);
}

function untyped([limit]: readonly string[], [first, second]: readonly string[]): string | undefined {
  if (limit !== undefined) return `${limit} is not checked without a type. Set the type`;
  if (second !== undefined) return `${first} is not checked next to ${second}. Set the type of both`;
  return undefined;
}

function problemOfTyped(schema: Schema, [composed]: readonly string[]): string | undefined {
  const { properties = {}, required = [], additionalProperties = true, patternProperties, items, prefixItems } = schema;
  const stray = (required as readonly Json[]).find((name) => !Object.hasOwn(properties as object, String(name)));
  if (stray !== undefined)
    return `required names ${JSON.stringify(stray)}, which is missing in properties. Add it there`;
  if (additionalProperties !== true && composed !== undefined)
    return `additionalProperties is not checked next to ${composed}. Move it, with all fields, into each alternative`;
  if (typeof additionalProperties === 'object' && patternProperties !== undefined)
    return 'additionalProperties is not checked next to patternProperties, unless it is false';
  const [count] = ['minItems', 'maxItems'].filter((keyword) => Object.hasOwn(schema, keyword));
  if (count !== undefined && items === undefined && prefixItems === undefined)
    return `${count} is not checked without items. Set items: true to allow any item`;
  return undefined;
}

function isNumber(value: Json): boolean {
  return typeof value === 'number';
}
