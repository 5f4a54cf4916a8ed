import { z } from 'zod';
import type { Json } from '#base';
import { type Schema, schemasIn } from './unchecked.ts';

/**
 * A default in a JSON Schema that the schema itself refuses, with its location, or undefined.
 * Defaults are used unchecked.
 */
export function misfitDefaultIn(root: Schema): string | undefined {
  const { $defs, definitions } = root;
  const defined = Object.entries({ $defs, definitions }).filter(([, each]) => each !== undefined);
  const around = Object.fromEntries(defined) as Schema;
  const visit = (schema: Json, at: string): string | undefined => {
    if (typeof schema !== 'object' || schema === null) return undefined;
    if (Array.isArray(schema)) return firstOf(schema.map((each, i) => [`${at}/${i}`, each] as const));
    const given = schema as Schema;
    if (Object.hasOwn(given, 'default')) {
      const { default: value, ...bare } = given;
      const isAll = schema === root;
      const refers = !isAll && JSON.stringify(bare).includes('"$ref":');
      const problem = problemOf(value!, refers ? { ...bare, ...around } : bare, isAll);
      if (problem !== undefined) return `${at === '' ? '' : `at ${at}, `}${problem}`;
    }
    return firstOf(schemasIn(given).map(([place, each]) => [`${at}/${place}`, each] as const));
  };
  const firstOf = (all: readonly (readonly [at: string, schema: Json])[]): string | undefined => {
    for (const [at, each] of all) {
      const found = visit(each, at);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return visit(root, '');
}

function problemOf(value: Json, schema: Schema, isAll: boolean): string | undefined {
  // A separate subschema would refer to itself instead of the whole schema.
  if (!isAll && /"\$ref":"#\/?"/.test(JSON.stringify(schema)))
    return 'a default is not checked if its schema has a $ref to #. Remove the default, or move the referenced schema to $defs';
  return z.fromJSONSchema(schema as never).safeParse(value).success
    ? undefined
    : 'the default does not match its schema. Change the default, or remove it';
}
