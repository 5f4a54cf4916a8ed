import fc from 'fast-check';
import { z } from 'zod';

/** The part of a JSON Schema, as zod writes it, that is read here. */
interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly not?: object;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly items?: Schema | boolean;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
}

/** Strings and numbers from the state, so that references often match. */
export interface Pool {
  readonly texts: readonly string[];
  readonly numbers: readonly number[];
}

/** Few generated keys and names, so that they often coincide. */
export const NAMES = ['a', 'b', 'c'] as const;
export const NO_POOL: Pool = { texts: [], numbers: [] };

/**
 * Maximum number of members of a record, or items of an unbounded list: enough to show a problem.
 */
const MEMBERS_MAX = 3;
/** Below this depth, optional values are left out. */
const DEPTH_MAX = 8;
const POOL_MAX = 40;

/**
 * Values for a schema, generated from zod's JSON Schema. The JSON Schema lacks refinements and
 * transformations. The caller must check each value with the schema and drop refused ones.
 */
export function valuesOf(
  schema: z.ZodType,
  io: 'input' | 'output',
  pool: Pool = NO_POOL,
): fc.Arbitrary<unknown> {
  const root = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Schema;
  return new Values(root, pool).of(root, 0);
}

/** The values of a state, for references; `fixed` are the names that its schema gives to fields. */
export function poolOf(state: unknown, fixed: ReadonlySet<string>): Pool {
  const texts = new Set<string>();
  const numbers = new Set<number>();
  const walk = (value: unknown): void => {
    if (texts.size >= POOL_MAX) return;
    if (typeof value === 'string') texts.add(value);
    else if (typeof value === 'number') numbers.add(value);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        if (!Array.isArray(value) && !fixed.has(key)) texts.add(key);
        walk(member);
      }
    }
  };
  walk(state);
  return { texts: [...texts], numbers: [...numbers].slice(0, POOL_MAX) };
}

/** The names that a schema gives to fields of its objects. */
export function fixedNames(schema: z.ZodType): Set<string> {
  const found = new Set<string>();
  const walk = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    for (const [name, below] of Object.entries(part)) {
      if (name === 'properties') for (const key of Object.keys(below as object)) found.add(key);
      walk(below);
    }
  };
  walk(z.toJSONSchema(schema, { unrepresentable: 'any' }));
  return found;
}

class Values {
  readonly #root: Schema;
  readonly #pool: Pool;

  constructor(root: Schema, pool: Pool) {
    this.#root = root;
    this.#pool = pool;
  }

  of(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    // A schema with endless recursion has no values; the schema refuses this one.
    if (depth > 4 * DEPTH_MAX) return fc.constant(null);
    if (schema.$ref !== undefined) return this.of(this.#refer(schema.$ref), depth + 1);
    if ('const' in schema) return fc.constant(schema.const);
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    const either = schema.anyOf ?? schema.oneOf;
    if (either !== undefined) return this.#either(either, depth);
    if (schema.allOf !== undefined) {
      const { allOf, ...rest } = schema;
      return this.of(Object.assign({}, rest, ...allOf), depth);
    }
    switch (schema.type) {
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return this.#list(schema, depth);
      case 'string':
        return this.#text(schema);
      case 'number':
      case 'integer':
        return this.#number(schema);
      case 'boolean':
        return fc.boolean();
      case 'null':
        return fc.constant(null);
      default:
        return fc.oneof(
          fc.constantFrom<unknown[]>(null, true, 1),
          this.#text({}),
          fc.constantFrom([], { a: 1 }),
        );
    }
  }

  #refer(ref: string): Schema {
    const name = /^#\/\$defs\/(.*)$/.exec(ref)?.[1];
    return (name === undefined ? this.#root : this.#root.$defs?.[name]) ?? {};
  }

  /** At depth, only values without members: a schema may contain itself. */
  #either(options: readonly Schema[], depth: number): fc.Arbitrary<unknown> {
    const flat = options.filter(
      ({ type, $ref }) => type !== 'object' && type !== 'array' && $ref === undefined,
    );
    const kept = depth > DEPTH_MAX && flat.length > 0 ? flat : options;
    return fc.oneof(...kept.map((option) => this.of(option, depth + 1)));
  }

  #object(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    const { properties = {}, required = [], additionalProperties: more, propertyNames } = schema;
    const kept = Object.entries(properties).filter(
      ([key]) => depth <= DEPTH_MAX || required.includes(key),
    );
    const known = fc.record(
      Object.fromEntries(kept.map(([key, part]) => [key, this.of(part, depth + 1)])),
      {
        requiredKeys: required.filter((key) => Object.hasOwn(properties, key)),
      },
    );
    if (more === undefined || typeof more === 'boolean') return known;
    const listed = propertyNames?.enum as readonly string[] | undefined;
    const member = this.of(more, depth + 1);
    if (listed !== undefined && required.length > 0)
      return fc.record(Object.fromEntries(listed.map((key) => [key, member])));
    const maxKeys = depth > DEPTH_MAX ? 0 : MEMBERS_MAX;
    return fc.dictionary(this.of(propertyNames ?? {}, depth + 1).map(String), member, { maxKeys });
  }

  #list(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    const {
      prefixItems = [],
      items,
      minItems = 0,
      maxItems = Math.max(minItems, MEMBERS_MAX),
    } = schema;
    const first = fc.tuple(...prefixItems.map((item) => this.of(item, depth + 1)));
    if (typeof items !== 'object' || depth > DEPTH_MAX) return first;
    const minLength = Math.max(0, minItems - prefixItems.length);
    const rest = fc.array(this.of(items, depth + 1), {
      minLength,
      maxLength: Math.max(minLength, maxItems),
    });
    return fc.tuple(first, rest).map(([head, tail]) => [...head, ...tail]);
  }

  #text({ pattern, format, minLength = 0, maxLength }: Schema): fc.Arbitrary<string> {
    const fits = pattern === undefined ? undefined : safeRegExp(pattern);
    const known = [...NAMES, ...this.#pool.texts, ...(FORMATS[format ?? ''] ?? [])].filter(
      (text) =>
        text.length >= minLength &&
        text.length <= (maxLength ?? text.length) &&
        fits?.test(text) !== false,
    );
    const free =
      fits === undefined
        ? fc.string({
            minLength,
            maxLength: Math.min(maxLength ?? 8, minLength + 8),
            unit: 'grapheme-ascii',
          })
        : matching(fits);
    if (known.length === 0) return free;
    // Values of a format are mostly compared, and random ones rarely match.
    if (FORMATS[format ?? ''] !== undefined) return fc.constantFrom(...known);
    return fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...known) },
      { weight: 1, arbitrary: free },
    );
  }

  #number(schema: Schema): fc.Arbitrary<number> {
    const { type, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
    const low = Math.ceil(
      minimum ?? (exclusiveMinimum === undefined ? -1_000 : exclusiveMinimum + 1),
    );
    const above = maximum ?? (exclusiveMaximum === undefined ? 1_000 : exclusiveMaximum - 1);
    const high = Math.max(low, Math.floor(Math.min(above, Math.max(low + 1_000, 1_000))));
    const step = multipleOf ?? 1;
    const inside = (value: number): boolean => value >= low && value <= above;
    const near = this.#pool.numbers.flatMap((n) => [n - 1, n, n + 1]);
    const known = [0, 1, 2, 10, 100, low, high, ...near]
      .map((n) => Math.round(n / step) * step)
      .filter(inside);
    const free = fc.integer({ min: low, max: high }).map((n) => Math.round(n / step) * step);
    const either = known.length === 0 ? free : fc.oneof(fc.constantFrom(...known), free);
    return type === 'integer' || multipleOf !== undefined
      ? either
      : fc.oneof(
          { weight: 8, arbitrary: either },
          { weight: 1, arbitrary: fc.constant(low + (high - low) / 4) },
        );
  }
}

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  date: ['2026-01-01', '2026-01-02', '2026-02-01', '2026-04-01'],
  'date-time': ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00.000000Z'],
  time: ['09:00:00', '17:30:00'],
  email: ['a@example.com', 'b@example.com'],
  uri: ['https://example.com/a'],
  uuid: ['6f2c1d5e-8b1a-4c3d-9e7f-0a1b2c3d4e5f', '0b9d7f3a-1c2e-4d5f-8a6b-7c8d9e0f1a2b'],
};

function safeRegExp(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return undefined;
  }
}

/** Patterns that cannot be inverted (look-arounds) use known values only. */
function matching(pattern: RegExp): fc.Arbitrary<string> {
  try {
    return fc.stringMatching(pattern, { size: 'small' });
  } catch {
    return fc.constant('a');
  }
}
