import { Ajv, MissingRefError, type Options, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import draft06 from 'ajv/dist/refs/json-schema-draft-06.json' with { type: 'json' };
import draft04 from 'ajv-draft-04';
import formats from 'ajv-formats';
import { isInstance, type Json } from 'assize/internal/base';
import { isSchema, pointerOf, type Schema, schemasIn } from './schemas-in.ts';

export interface CompileOptions {
  /**
   * Whether the schema is the only check of its values. Then each part that cannot be checked is a
   * fault, and defaults are filled in. Otherwise the owner of the schema checks the values again,
   * and a pattern of another language or an unknown format is left to that check.
   */
  readonly isOnlyCheck: boolean;
}

/** A compiled schema, or why the schema cannot be used: `at /properties/a, …`. */
export type Compiled =
  | { readonly faultOf: (value: unknown) => string | undefined; readonly unusable?: never }
  | { readonly unusable: string; readonly faultOf?: never };

type Core = new (options: Options) => Ajv;
interface Dialect {
  readonly meta: string;
  readonly Core: Core;
  /** Whether `$ref` replaces every keyword beside it. */
  readonly ignoreKeywordsWithRef?: true;
}

const DRAFT_06 = 'http://json-schema.org/draft-06/schema';
const NEWEST: Dialect = {
  meta: 'https://json-schema.org/draft/2020-12/schema',
  Core: Ajv2020 as unknown as Core,
};
const DIALECTS: readonly Dialect[] = [
  NEWEST,
  { meta: 'https://json-schema.org/draft/2019-09/schema', Core: Ajv2019 as unknown as Core },
  { meta: 'http://json-schema.org/draft-07/schema', Core: Ajv, ignoreKeywordsWithRef: true },
  { meta: DRAFT_06, Core: Ajv, ignoreKeywordsWithRef: true },
  {
    meta: 'http://json-schema.org/draft-04/schema',
    Core: draft04 as unknown as Core,
    ignoreKeywordsWithRef: true,
  },
];

/** Keywords that the library reads in another way than JSON Schema, or does not read in full. */
const UNREAD = ['$async', '$dynamicRef', '$recursiveRef', 'unevaluatedItems'];

/**
 * Compiles a JSON Schema of the draft that its `$schema` names, by default 2020-12. A schema means
 * what the test suite of JSON Schema says, or is refused by the place of the part that does not.
 */
export function compiled(schema: Json, options: CompileOptions): Compiled {
  try {
    return compiledOf(schema, options);
  } catch (error) {
    // A schema that is nested too deep for its readers has a RangeError.
    if (!isInstance(error, Error)) throw error;
    return { unusable: `it cannot be compiled: ${error.message}` };
  }
}

function compiledOf(schema: Json, { isOnlyCheck }: CompileOptions): Compiled {
  if (!isSchema(schema)) return { unusable: 'it must be an object' };
  const dialect = dialectOf(schema);
  if (dialect === undefined)
    return {
      unusable: `the draft ${JSON.stringify(schema['$schema'])} is not known. Write the schema in draft 2020-12`,
    };
  const unusable = misfitIn(schema, dialect) ?? unreadIn(schema, dialect);
  if (unusable !== undefined) return { unusable };
  const ajv = ajvOf(dialect, isOnlyCheck);
  let validate: ValidateFunction;
  try {
    validate = ajv.compile(schema);
  } catch (error) {
    if (!isInstance(error, MissingRefError)) throw error;
    return { unusable: missing(schema, error) };
  }
  const unchecked = isOnlyCheck
    ? (uncheckedIn(schema, ajv) ?? oddDefaultIn(schema, dialect))
    : undefined;
  if (unchecked !== undefined) return { unusable: unchecked };
  return { faultOf: (value) => faultOf(ajv, validate, value) };
}

/** Why a value does not match. A schema that refers to itself without an end matches nothing. */
function faultOf(ajv: Ajv, validate: ValidateFunction, value: unknown): string | undefined {
  try {
    return validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: '' }).trim();
  } catch (error) {
    if (!isInstance(error, RangeError)) throw error;
    return `it cannot be checked: ${error.message}`;
  }
}

function dialectOf({ $schema }: Schema): Dialect | undefined {
  if ($schema === undefined) return NEWEST;
  const bare = (text: string): string => text.replace(/^https?:/, '').replace(/#$/, '');
  return typeof $schema === 'string'
    ? DIALECTS.find(({ meta }) => bare(meta) === bare($schema))
    : undefined;
}

function ajvOf({ Core, meta, ignoreKeywordsWithRef }: Dialect, useDefaults: boolean): Ajv {
  const ajv = new Core({
    ...{ strict: false, validateSchema: false, logger: false, ownProperties: true, useDefaults },
    ...(ignoreKeywordsWithRef !== undefined && { ignoreKeywordsWithRef }),
    code: { regExp: Object.assign(patternOf, { code: 'new RegExp' }) },
  } as Options);
  formats.default(ajv);
  if (meta === DRAFT_06) ajv.addMetaSchema(draft06);
  return ajv;
}

/** A pattern is read with the flag `u`, or without it if only that works. */
function patternOf(pattern: string): { readonly test: (text: string) => boolean } {
  return regExpOf(pattern) ?? { test: () => true };
}

function regExpOf(pattern: string): RegExp | undefined {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(pattern, flags);
    } catch (error) {
      if (!isInstance(error, SyntaxError)) throw error;
    }
  }
  return undefined;
}

const metas = new Map<Dialect, Ajv>();

/** The place where a schema breaks the meta-schema of its draft. */
function misfitIn(schema: Schema, dialect: Dialect): string | undefined {
  const ajv = metas.get(dialect) ?? ajvOf(dialect, false);
  metas.set(dialect, ajv);
  if (ajv.validate(dialect.meta, schema)) return undefined;
  const { instancePath, message } = ajv.errors![0]!;
  return at(instancePath, `the schema ${message}`);
}

/** A part that the library reads in another way than JSON Schema. */
function unreadIn(root: Schema, { ignoreKeywordsWithRef }: Dialect): string | undefined {
  const all = [...schemasIn(root)];
  const hasRest = all.some(([, schema]) => Object.hasOwn(schema, 'unevaluatedProperties'));
  for (const [place, schema] of all) {
    const has = (keyword: string): boolean => Object.hasOwn(schema, keyword);
    const unread = UNREAD.find(has);
    if (unread !== undefined) return at(place, `${unread} is not supported`);
    if (has('properties') && Object.hasOwn(schema['properties'] as Schema, '__proto__'))
      return at(place, 'a member of the name __proto__ is not supported');
    if (hasRest && has('if') && !has('then'))
      return at(place, 'if without then is not supported with unevaluatedProperties');
    if (ignoreKeywordsWithRef === true && has('$ref') && (has('$id') || has('id')))
      return at(place, 'an id next to $ref is not supported');
  }
  return undefined;
}

/** A part of a schema that would not be checked. */
function uncheckedIn(root: Schema, { formats: checked }: Ajv): string | undefined {
  for (const [place, { $ref, format, pattern, patternProperties = {} }] of schemasIn(root)) {
    if (dialectOf({ $schema: $ref ?? '' }) !== undefined)
      return at(place, '$ref to the schema of a draft is not supported');
    if (format !== undefined && !Object.hasOwn(checked, format as string))
      return at(place, `the format ${format} is not checked. Use a pattern`);
    const patterns = [
      ...(pattern === undefined ? [] : [pattern as string]),
      ...Object.keys(patternProperties as Schema),
    ];
    const odd = patterns.find((each) => regExpOf(each) === undefined);
    if (odd !== undefined)
      return at(place, `${JSON.stringify(odd)} is not a regular expression of JavaScript`);
  }
  return undefined;
}

/** Keywords below which a default would be filled in before it is known which schema counts. */
const CHOICES = ['anyOf', 'oneOf', 'not', 'if', 'then', 'else'];

/** A default that its own schema refuses, or that would not be filled in. */
function oddDefaultIn(root: Schema, dialect: Dialect): string | undefined {
  const ajv = ajvOf(dialect, false).addSchema(root, ROOT);
  const all = [...schemasIn(root)];
  const hasChoice = all.some(([, schema]) =>
    CHOICES.some((keyword) => Object.hasOwn(schema, keyword)),
  );
  for (const [place, schema] of all) {
    if (!Object.hasOwn(schema, 'default')) continue;
    const isShared = ['$defs', 'definitions'].includes(place[0] ?? '');
    if (
      place.some((part) => CHOICES.includes(part)) ||
      (isShared && (hasChoice || place.length === 2))
    )
      return at(
        place,
        'the default would not be filled in. Move it to a member outside of choices and definitions',
      );
    if (ajv.validate({ $ref: `${ROOT}#${encodeURI(pointerOf(place))}` }, schema['default']))
      continue;
    return at(place, 'the default does not match its schema. Change the default, or remove it');
  }
  return undefined;
}

const ROOT = 'assize:input';

function missing(root: Schema, { missingRef }: MissingRefError): string {
  const [place = []] =
    [...schemasIn(root)].find(([, { $ref }]) => missingRef.endsWith(`${$ref}`)) ?? [];
  return at(place, `$ref names ${missingRef}, which the schema does not have`);
}

export function at(place: readonly string[] | string, problem: string): string {
  const pointer = typeof place === 'string' ? place : pointerOf(place);
  return pointer === '' ? problem : `at ${pointer}, ${problem}`;
}
