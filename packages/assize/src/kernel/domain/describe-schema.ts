import { z } from 'zod';
import type { Json } from '#base';
import { canonicalize, contentHash } from '#canon';
import { isErasedSchema } from './sensitive.ts';

/**
 * The hash of a schema's description. A change of the accepted values changes the hash. A text for
 * people (description, title, error message) and the version of zod do not change it.
 */
export function schemaHash(schema: z.ZodType): string {
  let hash = HASHES.get(schema);
  if (hash === undefined) {
    hash = contentHash(describeSchema(schema), { integers: 'any' });
    HASHES.set(schema, hash);
  }
  return hash;
}

/** A schema never changes. Domains that share schemas pay for this once. */
const HASHES = new WeakMap<z.ZodType, string>();

/** zod's own definition of a schema, with only the fields that this file reads. */
interface Def {
  readonly type: string;
  readonly check?: string;
  readonly checks?: readonly z.core.$ZodCheck[];
  readonly coerce?: boolean;
  readonly shape: Readonly<Record<string, z.ZodType>>;
  readonly catchall?: z.ZodType;
  readonly keyType: z.ZodType;
  readonly valueType: z.ZodType;
  readonly partial?: boolean;
  readonly mode?: string;
  readonly element: z.ZodType;
  readonly innerType: z.ZodType;
  readonly options: readonly z.ZodType[];
  readonly discriminator?: string;
  readonly inclusive?: boolean;
  readonly items: readonly z.ZodType[];
  readonly rest?: z.ZodType | null;
  readonly left: z.ZodType;
  readonly right: z.ZodType;
  readonly in: z.ZodType;
  readonly out: z.ZodType;
  readonly transform?: unknown;
  readonly getter: () => z.ZodType;
  readonly entries: Readonly<Record<string, string | number>>;
  readonly values: readonly unknown[];
  readonly parts: readonly unknown[];
  readonly defaultValue: unknown;
  readonly catchValue: (context: unknown) => unknown;
}

interface Description {
  readonly type: string;
  readonly checks?: readonly Json[];
  readonly [member: string]: Json | undefined;
}

/**
 * The accepted values of a schema, as JSON. A code that zod calls (a refinement, a transform) is
 * only a mark, because a function has no canonical text. A schema must not hold itself.
 */
export function describeSchema(schema: z.ZodType): Json {
  if (isErasedSchema(schema)) return { type: 'erased' };
  const def = schema._zod.def as unknown as Def;
  const { checks: inner = [], ...described } = typeOf(schema, def);
  // A format such as `z.email()` is a type and a check in one.
  const own = (def.check === undefined ? [] : [schema]) as unknown as z.core.$ZodCheck[];
  const checks = [...inner, ...[...own, ...(def.checks ?? [])].flatMap(checksOf)];
  return compact({
    ...described,
    ...(def.coerce === true ? { coerce: true } : {}),
    ...(checks.length > 0 ? { checks } : {}),
  });
}

function typeOf(schema: z.ZodType, def: Def): Description {
  const { type } = def;
  switch (type) {
    case 'object':
      return {
        type,
        members: membersOf(def.shape),
        others: def.catchall && describeSchema(def.catchall),
      };
    case 'record':
      return {
        type,
        keys: describeSchema(def.keyType),
        values: describeSchema(def.valueType),
        every: def.partial !== true && def.keyType._zod.values !== undefined,
        loose: def.mode === 'loose' || undefined,
      };
    case 'array':
      return { type, element: describeSchema(def.element) };
    case 'tuple':
      return {
        type,
        items: def.items.map(describeSchema),
        rest: def.rest == null ? undefined : describeSchema(def.rest),
      };
    case 'union':
      return unionOf(def);
    case 'intersection':
      return { type, parts: [describeSchema(def.left), describeSchema(def.right)] };
    case 'enum':
      return { type: 'literal', values: valuesOf(enumValues(def.entries)) };
    case 'literal':
      return { type, values: valuesOf(def.values) };
    case 'template_literal':
      return {
        type,
        parts: def.parts.map((part) =>
          isSchema(part) ? describeSchema(part) : { text: String(part) },
        ),
      };
    case 'optional':
      return {
        type,
        inner: describeSchema(def.innerType),
        exact: schema._zod.traits.has('$ZodExactOptional') || undefined,
      };
    case 'default':
    case 'prefault':
      return {
        type,
        inner: describeSchema(def.innerType),
        value: constantBy(() => def.defaultValue),
      };
    case 'catch':
      return {
        type,
        inner: describeSchema(def.innerType),
        value: constantBy(() => def.catchValue(undefined)),
      };
    case 'pipe':
      return { type, stages: stagesOf(schema) };
    case 'lazy':
      return describeSchema(def.getter()) as unknown as Description;
    case 'readonly':
      return describeSchema(def.innerType) as unknown as Description;
    case 'nullable':
    case 'nonoptional':
    case 'success':
    case 'promise':
      return { type, inner: describeSchema(def.innerType) };
    case 'set':
      return { type, values: describeSchema(def.valueType) };
    case 'map':
      return { type, keys: describeSchema(def.keyType), values: describeSchema(def.valueType) };
    default:
      return { type };
  }
}

function membersOf(shape: Def['shape']): Json {
  // A list, because a member can be named `__proto__`.
  return Object.keys(shape)
    .sort()
    .map((key) => [key, describeSchema(shape[key] as z.ZodType)]);
}

/** An option without values is left out: zod 4.0 adds one to the keys of a partial record. */
function unionOf({ options, inclusive, discriminator }: Def): Description {
  const described = options
    .map(describeSchema)
    .filter((option) => (option as unknown as Description).type !== 'never');
  const exactlyOne = inclusive === false && discriminator === undefined;
  if (described.length === 1) return described[0] as unknown as Description;
  return { type: 'union', options: described, exactlyOne: exactlyOne || undefined };
}

/** An enum of TypeScript has each number also as a key. Such a key is not a value. */
function enumValues(entries: Def['entries']): readonly unknown[] {
  const numbers = Object.values(entries).filter((value) => typeof value === 'number');
  return Object.keys(entries)
    .filter((key) => !numbers.includes(Number(key)))
    .map((key) => entries[key]);
}

function valuesOf(values: readonly unknown[]): Json {
  const described = new Map(
    values.map((value) => [canonicalize(constant(value), ANY_INTEGER), constant(value)]),
  );
  return [...described.keys()].sort().map((text) => described.get(text) as Json);
}

/** The stages through which a value passes. A pipe in a pipe is the same as a longer pipe. */
function stagesOf(schema: z.ZodType): Json[] {
  const def = schema._zod.def as unknown as Def;
  if (def.type !== 'pipe' || (def.checks ?? []).length > 0) return [describeSchema(schema)];
  const between = def.transform === undefined ? [] : [{ type: 'transform' }];
  return [...stagesOf(def.in), ...between, ...stagesOf(def.out)];
}

/** A value that a function computes is only a mark if the function does not return it again. */
function constantBy(read: () => unknown): Json {
  try {
    const [once, again] = [constant(read()), constant(read())];
    return canonicalize(once, ANY_INTEGER) === canonicalize(again, ANY_INTEGER) ? once : COMPUTED;
  } catch {
    // The value is not JSON, or its function needs the parsed input.
    return COMPUTED;
  }
}

const COMPUTED: Json = { computed: true };

/** The names of the checks that only hold a text for people. */
const TEXTS = new Set(['describe', 'meta']);

function checksOf(check: z.core.$ZodCheck): Json[] {
  const def = check._zod.def as unknown as Readonly<Record<string, unknown>> & {
    readonly check: string;
  };
  if (TEXTS.has(def.check)) return [];
  switch (def.check) {
    case 'string_format':
      return [formatOf(check)];
    case 'overwrite':
      return [
        {
          check: def.check,
          sample: constantBy(() => sampleOf(def['tx'] as (value: unknown) => unknown)),
        },
      ];
    case 'property':
      return [
        {
          check: def.check,
          property: String(def['property']),
          schema: describeSchema(def['schema'] as z.ZodType),
        },
      ];
    case 'properties':
      return [{ check: def.check, members: membersOf(def['shape'] as Def['shape']) }];
    default:
      return [compact({ check: def.check, ...constantsOf(def, BOUNDS) })];
  }
}

const BOUNDS = ['format', 'value', 'inclusive', 'minimum', 'maximum', 'length', 'size', 'mime'];
const FORMAT_OPTIONS = [
  ...['prefix', 'suffix', 'includes', 'position', 'precision', 'offset', 'local', 'version'],
  ...['alg', 'hostname', 'protocol', 'normalize', 'delimiter', 'length'],
];
/** zod makes the pattern of these formats from the options. */
const FROM_OPTIONS = new Set(['starts_with', 'ends_with', 'includes']);

/** The format's name and options, and the pattern if the declaration gives one. */
function formatOf(check: z.core.$ZodCheck): Json {
  const def = check._zod.def as unknown as Readonly<Record<string, unknown>> & {
    readonly format: string;
  };
  const { format, pattern } = def;
  const isGiven =
    pattern instanceof RegExp && !FROM_OPTIONS.has(format) && !isOwnPattern(check, def, pattern);
  return compact({
    check: 'string_format',
    format,
    ...constantsOf(def, FORMAT_OPTIONS),
    ...(isGiven ? { pattern: constant(pattern) } : {}),
  });
}

/**
 * Whether a pattern is zod's own for the format. Versions of zod write the pattern of a format in
 * different ways. A format without the pattern gets zod's own from its constructor.
 */
function isOwnPattern(
  check: z.core.$ZodCheck,
  def: object & { readonly format: string },
  pattern: RegExp,
): boolean {
  if (def.format === 'regex') return false;
  // The formats that zod defines by a function, such as `z.hex()`, share one constructor.
  if ('fn' in def) return Object.values(z.core.regexes).some((own) => own === pattern);
  const { pattern: _given, checks: _checks, ...others } = def as Record<string, unknown>;
  const make = (check._zod as unknown as { readonly constr: new (def: object) => z.core.$ZodCheck })
    .constr;
  const own = (new make(others)._zod.def as { readonly pattern?: RegExp }).pattern;
  return own !== undefined && String(own) === String(pattern);
}

/** The patterns that zod offers by name, and that versions of zod write in different ways. */
const NAMED = ['domain', 'html5Email', 'rfc5322Email', 'unicodeEmail', 'browserEmail'] as const;

function namedPattern(pattern: RegExp): string | undefined {
  const { regexes } = z.core as unknown as { readonly regexes: Readonly<Record<string, unknown>> };
  return NAMED.find((name) => regexes[name] === pattern);
}

function constantsOf(
  def: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, Json> {
  const given = names.filter((name) => def[name] != null && def[name] !== false);
  return Object.fromEntries(given.map((name) => [name, constant(def[name])]));
}

/** A constant of a schema as JSON. The values that JSON does not have are objects with one key. */
function constant(value: unknown): Json {
  if (value === undefined) return { undefined: true };
  if (typeof value === 'bigint') return { bigint: String(value) };
  if (typeof value === 'number' && !Number.isFinite(value)) return { number: String(value) };
  if (value instanceof Date) return { date: value.toISOString() };
  if (!(value instanceof RegExp)) return value as Json;
  const name = namedPattern(value);
  return name === undefined ? { pattern: value.source, flags: value.flags } : { named: name };
}

/** A text that trimming, both cases and every Unicode form change in different ways. */
const SAMPLE = ' A\u030A\u00E5 \uFB01 b ';

/** The result of a check that changes a text, such as `trim`, for one text. */
function sampleOf(change: (value: unknown) => unknown): Json {
  const changed = change(SAMPLE);
  return typeof changed === 'string' ? changed : COMPUTED;
}

function isSchema(part: unknown): part is z.ZodType {
  return typeof part === 'object' && part !== null && '_zod' in part;
}

function compact(members: Readonly<Record<string, Json | undefined>>): Json {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as Json;
}

const ANY_INTEGER = { integers: 'any' } as const;
