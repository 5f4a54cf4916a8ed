import type { Json } from 'assize/internal/base';
import { z } from 'zod';
import type { Choices } from './choices.ts';

/** The parts of a state that arguments can refer to. */
export interface Pool {
  readonly texts: readonly string[];
  readonly numbers: readonly number[];
  /** Keys of records and values of members, by the name that they stand under. */
  readonly named: ReadonlyMap<string, readonly string[]>;
  /** The keys of each object below the root: a text of another name may be one of them. */
  readonly keys: readonly (readonly string[])[];
}

/** Names that nothing has yet: few, so that two proposals may meet in one. */
const NAMES = ['a', 'b', 'c'] as const;
const DATES = ['2026-01-01', '2026-01-02', '2026-02-01', '2026-05-01'] as const;
const NUMBERS = [0, 1, 2, 10, 100, 1_000] as const;
const POOL_MAX = 60;
const DEPTH_MAX = 6;

export function poolOf(state: Json): Pool {
  const texts = new Set<string>();
  const numbers = new Set<number>();
  const named = new Map<string, Set<string>>();
  const keys: (readonly string[])[] = [];
  const name = (under: string, text: string): void => {
    texts.add(text);
    named.set(under, (named.get(under) ?? new Set()).add(text));
  };
  const walk = (value: Json, under: string): void => {
    if (typeof value === 'string') name(under, value);
    else if (typeof value === 'number') numbers.add(value);
    else if (Array.isArray(value)) for (const item of value) walk(item, under);
    else if (typeof value === 'object' && value !== null) {
      if (under !== '') keys.push(Object.keys(value).slice(0, POOL_MAX));
      for (const [key, member] of Object.entries(value)) {
        name(under, key);
        walk(member, key);
      }
    }
  };
  walk(state, '');
  const first = <T>(set: Iterable<T>): T[] => [...set].slice(0, POOL_MAX);
  return {
    texts: first(texts),
    numbers: first(numbers),
    named: new Map([...named].map(([under, list]) => [under, first(list)])),
    keys: first(keys.filter((list) => list.length > 0)),
  };
}

/** A part of a JSON Schema, as zod writes it; only the members that are read here. */
interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string;
  readonly const?: Json;
  readonly enum?: readonly Json[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema | boolean;
  readonly minItems?: number;
  readonly format?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
}

/**
 * Draws values of a schema from its JSON Schema in zod, mostly values that the state has under the
 * same name. The caller checks other constraints of the schema.
 */
export function valuesOf(schema: z.ZodType): (choices: Choices, pool: Pool) => Json {
  const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as unknown as Schema;
  return (choices, pool) => draw(root, '', 0, { root, choices, pool });
}

interface Drawing {
  readonly root: Schema;
  readonly choices: Choices;
  readonly pool: Pool;
}

function draw(schema: Schema, name: string, depth: number, drawing: Drawing): Json {
  const { root, choices } = drawing;
  const again = (part: Schema, under = name): Json => draw(part, under, depth + 1, drawing);
  if (depth > DEPTH_MAX) return null;
  if (schema.$ref !== undefined)
    return again(root.$defs?.[schema.$ref.replace(/^#\/\$defs\//, '')] ?? root);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return choices.oneOf(schema.enum);
  const either = schema.anyOf ?? schema.oneOf;
  if (either !== undefined) return again(choices.oneOf(either));
  if (schema.allOf !== undefined) return again(Object.assign({}, ...schema.allOf));
  switch (schema.type) {
    case 'object':
      return members(schema, again, choices);
    case 'array': {
      const count = Math.max(schema.minItems ?? 0, choices.below(3));
      return typeof schema.items === 'object'
        ? Array.from({ length: count }, () => again(schema.items as Schema))
        : [];
    }
    case 'number':
    case 'integer':
      return numberOf(schema, drawing);
    case 'boolean':
      return choices.next() < 0.5;
    case 'null':
      return null;
    default:
      return textNamed(name, drawing, schema.format);
  }
}

function members(
  { properties = {}, required = [] }: Schema,
  again: (part: Schema, under: string) => Json,
  choices: Choices,
): Json {
  const kept = Object.entries(properties).filter(
    ([key]) => required.includes(key) || choices.next() < 0.3,
  );
  return Object.fromEntries(kept.map(([key, part]) => [key, again(part, key)]));
}

/** A text for a member, argument or parameter of that name. */
export function textNamed(
  name: string,
  { choices, pool }: Pick<Drawing, 'choices' | 'pool'>,
  format?: string,
): string {
  const stem = name.replace(/_?ids?$/, '');
  const meant = [...pool.named]
    .filter(([under]) => stem !== '' && under.startsWith(stem))
    .flatMap(([, texts]) => texts);
  if (format === 'date')
    return choices.oneOf([
      ...DATES,
      ...pool.texts.filter((text) => /^\d{4}-\d\d-\d\d$/.test(text)),
    ]);
  const chance = choices.next();
  if (meant.length > 0 && chance < 0.6) return choices.oneOf(meant);
  // An `arm` can be a key of `/capacity`: names do not tell, so any object's keys are tried.
  if (meant.length === 0 && pool.keys.length > 0 && chance < 0.15)
    return choices.oneOf(choices.oneOf(pool.keys));
  if (pool.texts.length > 0 && chance > 0.85) return choices.oneOf(pool.texts);
  return choices.oneOf(NAMES);
}

function numberOf(
  { type, minimum, exclusiveMinimum, maximum }: Schema,
  { choices, pool }: Drawing,
): number {
  const least = minimum ?? (exclusiveMinimum === undefined ? -Infinity : exclusiveMinimum + 1);
  // Next to a number of the state: its neighbours, and a little more than half. Two of these exceed
  // it.
  const near = pool.numbers.flatMap((n) => [n, n - 1, n + 1, Math.ceil(n * 0.6)]);
  const known = [...NUMBERS, ...near].filter(
    (n) =>
      n >= least && n <= (maximum ?? Infinity) && (type === 'number' || Number.isSafeInteger(n)),
  );
  return known.length === 0
    ? Math.max(0, Math.ceil(least === -Infinity ? 0 : least))
    : choices.oneOf(known);
}
