import type { Json } from '#base';
import { BY_NAME, COMPOSED, type Schema, WITHIN } from './unchecked.ts';

/**
 * A schema of the same values that states otherwise unchecked parts in full. Alternatives that only
 * require sibling fields are each merged with those fields. A map with names from a list gets those
 * names as its fields.
 */
export function spelledOut(schema: Json): Json {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema;
  const made: Record<string, Json> = { ...(schema as Schema) };
  for (const keyword of WITHIN) {
    const each = made[keyword];
    if (each === undefined) continue;
    made[keyword] = Array.isArray(each) ? each.map(spelledOut) : spelledOut(each);
  }
  for (const keyword of BY_NAME) {
    const named = made[keyword];
    if (typeof named !== 'object' || named === null || Array.isArray(named)) continue;
    made[keyword] = Object.fromEntries(Object.entries(named).map(([name, each]) => [name, spelledOut(each as Json)]));
  }
  return withAlternatives(withMembers(made));
}

/** Merges alternatives that name only required fields next to them. */
function withAlternatives(schema: Schema): Schema {
  const [composed, second] = COMPOSED.filter((keyword) => Object.hasOwn(schema, keyword));
  if (composed === undefined || composed === 'allOf' || second !== undefined) return schema;
  const { [composed]: choice, $defs, definitions, $schema, ...beside } = schema;
  const { type, properties, required = [] } = beside;
  const isWhole = ['$ref', 'enum', 'const', 'default'].some((keyword) => Object.hasOwn(beside, keyword));
  if (type !== 'object' || isWhole || !isNamed(properties) || !isTexts(required) || !Array.isArray(choice))
    return schema;
  const isRequired = (each: Json): boolean =>
    isNamed(each) && Object.keys(each).join() === 'required' && isTexts(each['required']!);
  if (choice.length === 0 || !choice.every(isRequired)) return schema;
  const all = choice.map((each) => ({
    ...beside,
    required: [...new Set([...required, ...(each as { readonly required: readonly string[] }).required])],
  }));
  const around = Object.entries({ $schema, $defs, definitions }).filter(([, each]) => each !== undefined);
  return { ...(Object.fromEntries(around) as Schema), [composed]: all };
}

/** Spells out a map with listed names, if its schema states nothing else about its fields. */
function withMembers(schema: Schema): Schema {
  const { propertyNames, additionalProperties = true, ...beside } = schema;
  if (beside['type'] !== 'object' || !isNamed(propertyNames)) return schema;
  const { type = 'string', enum: names, ...more } = propertyNames;
  const isPlain = type === 'string' && Object.keys(more).length === 0 && isTexts(names);
  const hasOthers = ['properties', 'patternProperties', ...COMPOSED].some((keyword) => Object.hasOwn(beside, keyword));
  if (!isPlain || hasOthers || additionalProperties === false || names.includes('__proto__')) return schema;
  const properties = Object.fromEntries(names.map((name) => [name, additionalProperties]));
  return { ...beside, properties, additionalProperties: false };
}

function isNamed(value: Json | undefined): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
