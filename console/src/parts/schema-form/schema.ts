/** The part of a JSON Schema that the form reads. */
export interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly title?: string;
  readonly description?: string;
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema | boolean;
  readonly prefixItems?: readonly unknown[];
  readonly additionalProperties?: Schema | boolean;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly multipleOf?: number;
  readonly default?: unknown;
  readonly [other: string]: unknown;
}

/** The field for a schema. `json`: a text field for everything without a field of its own. */
export type Kind =
  | 'text'
  | 'number'
  | 'integer'
  | 'boolean'
  | 'choice'
  | 'object'
  | 'list'
  | 'json';

/** A schema without a reference at its top, with the definitions that its parts may name. */
export interface Resolved {
  readonly schema: Schema;
  readonly root: Schema;
  /** The references on the way here, so that a recursion ends. */
  readonly seen: readonly string[];
}

export function resolvedRoot(root: Schema): Resolved {
  return resolved(root, { schema: root, root, seen: [] });
}

/** A part of a schema. A recursive part has no form, so it accepts any JSON. */
export function resolved(part: Schema | boolean | undefined, { root, seen }: Resolved): Resolved {
  const schema = typeof part === 'object' ? part : {};
  const { $ref: reference, ...own } = schema;
  if (reference === undefined) return { schema, root, seen };
  const name = /^#\/\$defs\/([^/]+)$/.exec(reference)?.[1];
  const target = name === undefined ? undefined : root.$defs?.[name];
  if (target === undefined || seen.includes(reference)) return { schema: {}, root, seen };
  return resolved({ ...target, ...own }, { schema, root, seen: [...seen, reference] });
}

/** Members that say more than the form shows: alternatives, and conditions over several parts. */
const BEYOND = [
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'if',
  'patternProperties',
  'dependentSchemas',
  'prefixItems',
];

export function kindOf({ schema }: Resolved): Kind {
  if (BEYOND.some((name) => schema[name] !== undefined)) return 'json';
  if (choicesOf(schema) !== undefined) return 'choice';
  switch (schema.type) {
    case 'string':
      return 'text';
    case 'number':
    case 'integer':
    case 'boolean':
      return schema.type;
    case 'object':
      return schema.properties === undefined ? 'json' : 'object';
    case 'array':
      return typeof schema.items === 'object' ? 'list' : 'json';
    default:
      return 'json';
  }
}

/** The possible values of a schema with a fixed list of scalars. */
export function choicesOf(schema: Schema): readonly unknown[] | undefined {
  const choices = 'const' in schema ? [schema.const] : schema.enum;
  return choices?.every((one) => one === null || typeof one !== 'object') === true
    ? choices
    : undefined;
}

/** Whether a value has the form that the field of a kind edits. Others are edited as JSON. */
export function isOfKind(kind: Kind, value: unknown): boolean {
  if (value === undefined || kind === 'json' || kind === 'choice') return true;
  if (kind === 'object')
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  if (kind === 'list') return Array.isArray(value);
  if (kind === 'boolean') return typeof value === 'boolean';
  // A text that is not a number yet stays in the field.
  return kind === 'text'
    ? typeof value === 'string'
    : typeof value === 'number' || typeof value === 'string';
}

/** A new value of a schema: the default, or the least that the field can show. */
export function emptyOf(part: Resolved): unknown {
  const { schema } = part;
  if ('default' in schema) return schema.default;
  const kind = kindOf(part);
  if (kind === 'choice') return choicesOf(schema)?.[0];
  if (kind === 'text') return '';
  if (kind === 'boolean') return false;
  if (kind === 'list') return [];
  if (kind === 'json') return null;
  if (kind !== 'object') return nearestToZero(schema);
  const required = new Set(schema.required);
  const members = Object.entries(schema.properties ?? {}).filter(([name]) => required.has(name));
  return Object.fromEntries(
    members.map(([name, member]) => [name, emptyOf(resolved(member, part))]),
  );
}

function nearestToZero({ minimum = 0, maximum = 0 }: Schema): number {
  return minimum > 0 ? minimum : maximum < 0 ? maximum : 0;
}

/** The limits of a schema in words. Empty if there are none. */
export function limitsOf(schema: Schema): string {
  const {
    minimum,
    maximum,
    exclusiveMinimum,
    exclusiveMaximum,
    minLength,
    maxLength,
    minItems,
    maxItems,
  } = schema;
  const words = [
    rangeOf(minimum, maximum),
    exclusiveMinimum !== undefined && `above ${exclusiveMinimum}`,
    exclusiveMaximum !== undefined && `below ${exclusiveMaximum}`,
    schema.multipleOf !== undefined &&
      schema.multipleOf !== 1 &&
      `in steps of ${schema.multipleOf}`,
    minLength !== undefined && `at least ${minLength} characters`,
    maxLength !== undefined && `at most ${maxLength} characters`,
    minItems !== undefined && `at least ${minItems} items`,
    maxItems !== undefined && `at most ${maxItems} items`,
    schema.format !== undefined && FORMATS[schema.format],
  ];
  return words.filter((word) => typeof word === 'string').join(', ');
}

/** The limits of every safe integer are not shown. */
function rangeOf(
  minimum = -Number.MAX_SAFE_INTEGER,
  maximum = Number.MAX_SAFE_INTEGER,
): string | undefined {
  const from = minimum > -Number.MAX_SAFE_INTEGER ? `from ${minimum}` : undefined;
  const to =
    maximum < Number.MAX_SAFE_INTEGER
      ? `${from === undefined ? 'up ' : ''}to ${maximum}`
      : undefined;
  return from === undefined ? to : to === undefined ? from : `${from} ${to}`;
}

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'a time such as 2026-03-23T09:00:00Z',
  date: 'a date such as 2026-03-23',
  time: 'a time of day such as 09:00:00',
  email: 'an address of mail',
  uri: 'an address such as https://example.org',
  uuid: 'a UUID',
};
