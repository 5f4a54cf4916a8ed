import { z } from 'zod';
import { issueText, toPointer } from '#canon';
import { KernelError, messageOf } from '../errors.ts';
import type { Change } from './change.ts';
import { isIndex } from './list-index.ts';
import { isErasedSchema } from './sensitive.ts';

/** zod's own description of a schema, with only the fields that this file reads. */
interface Def {
  readonly type: string;
  readonly checks?: readonly unknown[];
  readonly format?: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly keyType?: z.ZodType;
  readonly partial?: boolean;
  readonly coerce?: boolean;
  readonly valueType?: z.ZodType;
  readonly element?: z.ZodType;
  readonly innerType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly items?: readonly z.ZodType[];
  readonly rest?: z.ZodType | null;
  readonly in?: z.ZodType;
  readonly out?: z.ZodType;
  readonly getter?: () => z.ZodType;
}

const LEAVES = new Set([
  'string',
  'number',
  'int',
  'boolean',
  'null',
  'literal',
  'enum',
  'any',
  'unknown',
  'never',
  'template_literal',
]);
const WRAPPERS = new Set(['optional', 'nullable', 'readonly', 'nonoptional']);
/** Types that arguments may use too: arguments are recorded after parsing. */
const PARSING = new Set(['default', 'prefault', 'catch', 'pipe', 'transform', 'lazy', 'custom']);

/**
 * The same schema with every object strict, at every depth: an unknown field is an error and is not
 * dropped silently. A state's schema must consist of plain JSON parts, because each change is
 * checked against the part that it touches.
 *
 * @throws KernelError `invalid_domain`, also for a recursive schema
 */
export function strictSchema<S extends z.ZodType>(schema: S, kind: 'state' | 'args'): S {
  let made = STRICT[kind].get(schema);
  if (made === undefined) {
    refuseRecursion(schema, kind, new Set(), new Set());
    made = strict(schema, kind, '');
    STRICT[kind].set(schema, made);
  }
  return made as S;
}

/**
 * A schema never changes, and zod compiles a new one for its first value. Domains that share
 * schemas pay for this once.
 */
const STRICT = {
  state: new WeakMap<z.ZodType, z.ZodType>(),
  args: new WeakMap<z.ZodType, z.ZodType>(),
};

/** A recursive schema can neither be made strict nor be hashed. */
function refuseRecursion(
  schema: z.ZodType,
  kind: 'state' | 'args',
  above: Set<z.ZodType>,
  sound: Set<z.ZodType>,
): void {
  if (sound.has(schema)) return;
  if (above.has(schema)) {
    throw new KernelError(
      'invalid_domain',
      `The schema of ${kind === 'state' ? 'the state' : 'an action’s arguments'} is recursive. Write out the levels, or use z.unknown() and check the value in the action.`,
    );
  }
  above.add(schema);
  for (const part of partsWithin(defOf(schema))) refuseRecursion(part, kind, above, sound);
  above.delete(schema);
  sound.add(schema);
}

function partsWithin(def: Def): z.ZodType[] {
  const { keyType, valueType, element, innerType, rest, in: before, out: after, getter } = def;
  return [
    ...Object.values(def.shape ?? {}),
    ...(def.options ?? []),
    ...(def.items ?? []),
    ...[keyType, valueType, element, innerType, rest, before, after, getter?.()].filter(
      (part) => part != null,
    ),
  ];
}

function strict(schema: z.ZodType, kind: 'state' | 'args', path: string): z.ZodType {
  if (isErasedSchema(schema)) return schema;
  const def = defOf(schema);
  if (kind === 'state' && changesValues(def)) {
    throw new KernelError(
      'invalid_domain',
      `The schema of the state changes values at ${path || 'its root'} (coerce, trim, …). Change the values in the action instead.`,
    );
  }
  if (kind === 'state' && def.keyType !== undefined) strict(def.keyType, kind, `${path}/*`);
  const inner = (part: z.ZodType, key: string): z.ZodType => strict(part, kind, `${path}/${key}`);
  if (def.type === 'object') {
    const shape = Object.fromEntries(
      Object.entries(def.shape ?? {}).map(([key, part]) => [key, inner(part, key)]),
    );
    return rebuilt(schema, { shape, catchall: z.never() });
  }
  if (def.type === 'record')
    return rebuilt(schema, { valueType: inner(def.valueType as z.ZodType, '*'), mode: undefined });
  if (def.type === 'array')
    return rebuilt(schema, { element: inner(def.element as z.ZodType, '*') });
  if (def.type === 'union')
    return rebuilt(schema, { options: (def.options ?? []).map((option) => inner(option, '|')) });
  if (def.type === 'tuple') {
    const items = (def.items ?? []).map((item, i) => inner(item, String(i)));
    return rebuilt(schema, { items, rest: def.rest == null ? null : inner(def.rest, '*') });
  }
  // `readonly` matters to types only. At run time it would freeze a value of the state.
  if (def.type === 'readonly' && !hasChecks(schema))
    return strict(def.innerType as z.ZodType, kind, path);
  if (WRAPPERS.has(def.type))
    return rebuilt(schema, { innerType: strict(def.innerType as z.ZodType, kind, path) });
  if (LEAVES.has(def.type)) return schema;
  if (kind === 'args' && PARSING.has(def.type)) {
    return def.innerType === undefined
      ? schema
      : rebuilt(schema, { innerType: strict(def.innerType, kind, path) });
  }
  throw new KernelError(
    'invalid_domain',
    `The schema of ${kind === 'state' ? 'the state' : 'an action’s arguments'} has a ${def.type} at ${path || 'its root'}. Use plain JSON parts (object, record, array, tuple, union, literal, enum, string, number, boolean, null; each also optional or nullable).`,
  );
}

/**
 * A schema that returns a different value than its input would promise a value that the state does
 * not store.
 */
function changesValues(def: Def): boolean {
  const checks = (def.checks ?? []) as readonly { _zod?: { def?: { check?: string } } }[];
  return def.coerce === true || checks.some((check) => check._zod?.def?.check === 'overwrite');
}

/**
 * Whether every accepted value leaves the schema unchanged, so that a second parse changes nothing.
 * Also false if that is unknown: for records, because their keys can be numbers or pass unseen, and
 * for formats, because some of them normalise.
 */
export function keepsValues(schema: z.ZodType): boolean {
  let keeps = KEEPS.get(schema);
  if (keeps === undefined) {
    keeps = keeping(defOf(schema));
    KEEPS.set(schema, keeps);
  }
  return keeps;
}

const KEEPS = new WeakMap<z.ZodType, boolean>();
const PARTED = new Set([
  'object',
  'array',
  'union',
  'tuple',
  'optional',
  'nullable',
  'nonoptional',
]);

function keeping(def: Def): boolean {
  // A custom check can replace the value that it receives.
  const checks = (def.checks ?? []) as readonly { _zod?: { def?: { check?: string } } }[];
  const sort = [
    ...checks.map((check) => check._zod?.def?.check),
    (def as { readonly check?: string }).check,
  ];
  if (changesValues(def) || sort.includes('custom') || sort.includes('string_format')) return false;
  if (Object.hasOwn(def.shape ?? {}, '__proto__')) return false;
  if (!PARTED.has(def.type)) return LEAVES.has(def.type);
  const parts = [
    ...Object.values(def.shape ?? {}),
    ...(def.options ?? []),
    ...(def.items ?? []),
    ...[def.element, def.innerType, def.rest].filter((part) => part != null),
  ];
  return parts.every(keepsValues);
}

function rebuilt(schema: z.ZodType, members: Record<string, unknown>): z.ZodType {
  return z.core.clone(schema, { ...schema._zod.def, ...members } as typeof schema._zod.def);
}

function defOf(schema: z.ZodType): Def {
  return schema._zod.def as unknown as Def;
}

/**
 * Checks the changes of a state against only the parts of the schema that they touch, so the cost
 * follows the change. A part with checks of its own (refinements, lengths) and a union are checked
 * whole. Returns the fault of the first change that does not fit, or undefined.
 */
export function changesFault(
  schema: z.ZodType,
  state: unknown,
  changes: readonly Change[],
): string | undefined {
  const root = partOf(schema);
  let parent: Change['parent'] | undefined;
  let container: Part | WholePart | string = root;
  for (const change of changes) {
    if (change.parent !== parent) {
      parent = change.parent;
      container = containerAt(root, parent);
    }
    const fault =
      typeof container === 'string'
        ? `${toPointer(change.keys)}: ${container}`
        : container instanceof WholePart
          ? container.faultOnce(state, change.keys)
          : memberFault(container, change);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** A container on the path that must be checked whole. With siblings it is checked once. */
class WholePart {
  readonly #schema: z.ZodType;
  readonly #depth: number;
  #isChecked: boolean = false;

  constructor(schema: z.ZodType, depth: number) {
    this.#schema = schema;
    this.#depth = depth;
  }

  faultOnce(state: unknown, keys: readonly string[]): string | undefined {
    if (this.#isChecked) return undefined;
    this.#isChecked = true;
    return faultAt(this.#schema, state, keys.slice(0, this.#depth));
  }
}

/**
 * The part at the end of a path, a container on the path that must be checked whole, or the fault.
 */
function containerAt(root: Part, path: readonly string[]): Part | WholePart | string {
  let here = root;
  for (let depth = 0; ; depth++) {
    if (here.isWhole) return new WholePart(here.inner, depth);
    const key = path[depth];
    if (key === undefined) return here;
    const next = here.member(key);
    if (next === undefined) return NO_PLACE;
    const named = here.keyFault(key);
    if (named !== undefined) return named;
    here = next;
  }
}

function memberFault(container: Part, { op, keys, value }: Change): string | undefined {
  const key = keys[keys.length - 1] as string;
  const part = container.member(key);
  if (part === undefined) return `${toPointer(keys)}: ${NO_PLACE}`;
  const named = container.keyFault(key);
  if (named !== undefined) return `${toPointer(keys)}: ${named}`;
  if (op !== 'remove')
    return part.isPlainly?.(value) === true ? undefined : fault(part.schema, value, keys);
  return isRequired(container.def, key, part.schema)
    ? `${toPointer(keys)}: cannot be removed`
    : undefined;
}

const NO_PLACE = 'the schema of the state has no such path';

/** The schema of one place, read once. */
class Part {
  readonly schema: z.ZodType;
  /** The schema without the wrappers that do not affect the parts below. */
  readonly inner: z.ZodType;
  readonly def: Def;
  readonly isWhole: boolean;
  /** A quick test that avoids most parsing. A value that fails it can still fit. */
  readonly isPlainly: ((value: unknown) => boolean) | undefined;
  readonly #named: ReadonlyMap<string, Part> | undefined;
  #every: Part | undefined;

  constructor(schema: z.ZodType) {
    this.schema = schema;
    this.inner = unwrap(schema);
    this.def = defOf(this.inner);
    this.isWhole = isWhole(this.def);
    this.isPlainly = plainTest(schema);
    const { shape } = this.def;
    if (shape !== undefined)
      this.#named = new Map(
        Object.keys(shape).map((key) => [key, partOf(shape[key] as z.ZodType)]),
      );
  }

  member(key: string): Part | undefined {
    if (this.#named !== undefined) return this.#named.get(key);
    const every = this.def.valueType ?? this.def.element;
    if (this.#every === undefined && every !== undefined) this.#every = partOf(every);
    return this.#every;
  }

  keyFault(key: string): string | undefined {
    return this.def.keyType === undefined ? undefined : keyFault(this.def.keyType, key);
  }
}

function partOf(schema: z.ZodType): Part {
  let part = PARTS.get(schema);
  if (part === undefined) {
    part = new Part(schema);
    PARTS.set(schema, part);
  }
  return part;
}

const PARTS = new WeakMap<z.ZodType, Part>();

/** The test of the plain types that most values have. It costs a tenth of a parse. */
function plainTest(schema: z.ZodType): Part['isPlainly'] {
  const { type, format, checks = [] } = defOf(schema);
  if (format !== undefined) return undefined;
  if (type === 'string' && checks.length === 0) return isText;
  if (type === 'boolean' && checks.length === 0) return isBoolean;
  if (type !== 'number') return undefined;
  if (checks.length === 0) return Number.isFinite;
  const [only, ...more] = checks as readonly {
    _zod?: { def?: { check?: string; format?: string } };
  }[];
  const { check, format: sort } = only?._zod?.def ?? {};
  return more.length === 0 && check === 'number_format' && sort === 'safeint'
    ? Number.isSafeInteger
    : undefined;
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean';
}

/**
 * The lookup happens only here: in a large state each step of the path costs more than the schema
 * check.
 */
function faultAt(schema: z.ZodType, state: unknown, keys: readonly string[]): string | undefined {
  let value = state;
  for (const key of keys) value = (value as Record<string, unknown> | undefined)?.[key];
  return fault(schema, value, keys);
}

/**
 * Whether a schema can have a value at a path of keys, with `undefined` for any key. Below a union
 * or an open schema, every path is possible. A list has only its elements, by index.
 */
export function hasPlace(schema: z.ZodType, path: readonly (string | undefined)[]): boolean {
  let here = unwrap(schema);
  for (const key of path) {
    const def = defOf(here);
    if (['array', 'tuple'].includes(def.type) && key !== undefined && !isIndex(key)) return false;
    if (['union', 'any', 'unknown', 'tuple', 'lazy'].includes(def.type)) return true;
    if (def.type === 'object' && key === undefined) return Object.keys(def.shape ?? {}).length > 0;
    const next = ['object', 'record', 'array'].includes(def.type)
      ? member(def, key ?? '0')
      : undefined;
    if (next === undefined) return false;
    here = unwrap(next);
  }
  return true;
}

/**
 * The members that a container can have: by name, or all alike. Undefined if anything is possible,
 * or nothing.
 */
export function partsOf(
  schema: z.ZodType,
):
  | { readonly members: ReadonlyMap<string, z.ZodType>; readonly every: z.ZodType | undefined }
  | undefined {
  const def = defOf(unwrap(schema));
  if (def.type === 'object')
    return { members: new Map(Object.entries(def.shape ?? {})), every: undefined };
  if (def.type === 'record') return { members: new Map(), every: def.valueType };
  return def.type === 'array' ? { members: new Map(), every: def.element } : undefined;
}

/**
 * Whole-state check, for initial states and a counselor's replacement. Returns the fault, or
 * undefined.
 */
export function stateFault(schema: z.ZodType, state: unknown): string | undefined {
  return fault(schema, state, []);
}

function isWhole(def: Def): boolean {
  return (def.checks?.length ?? 0) > 0 || !['object', 'record', 'array'].includes(def.type);
}

/**
 * Members of an object, and of a record with listed keys, are required unless their schema says
 * otherwise.
 */
function isRequired(def: Def, key: string, member: z.ZodType): boolean {
  return def.type === 'object'
    ? mustBeThere(member)
    : isListed(def, key) && !member.safeParse(undefined).success;
}

/** Checked on an object, because a member that can be undefined is not always optional. */
function mustBeThere(member: z.ZodType): boolean {
  let required = REQUIRED.get(member);
  if (required === undefined) {
    required = !z.object({ member }).safeParse({}).success;
    REQUIRED.set(member, required);
  }
  return required;
}

const REQUIRED = new WeakMap<z.ZodType, boolean>();

function isListed(def: Def, key: string): boolean {
  const listed = def.partial === true ? undefined : def.keyType?._zod.values;
  return listed?.has(key) === true || (isNumeric(key) && listed?.has(Number(key)) === true);
}

/** zod accepts a number schema for a record's key. */
function keyFault(schema: z.ZodType, key: string): string | undefined {
  if (takesAnyText(schema)) return undefined;
  const named = schema.safeParse(key);
  if (named.success || (isNumeric(key) && schema.safeParse(Number(key)).success)) return undefined;
  return issueText(named.error);
}

/** Most keys are such strings. A format such as a date has its own check. */
function takesAnyText(schema: z.ZodType): boolean {
  const { type, format } = defOf(schema);
  return type === 'string' && format === undefined && !hasChecks(schema);
}

function isNumeric(key: string): boolean {
  return /^-?\d+(?:\.\d+)?$/.test(key);
}

function member(def: Def, key: string): z.ZodType | undefined {
  if (def.type === 'object')
    return Object.hasOwn(def.shape ?? {}, key) ? def.shape?.[key] : undefined;
  if (def.type === 'record') return def.valueType;
  return def.element;
}

function unwrap(schema: z.ZodType): z.ZodType {
  let here = schema;
  while (WRAPPERS.has(defOf(here).type) && !hasChecks(here))
    here = defOf(here).innerType as z.ZodType;
  return here;
}

function hasChecks(schema: z.ZodType): boolean {
  return (defOf(schema).checks?.length ?? 0) > 0;
}

function fault(schema: z.ZodType, value: unknown, keys: readonly string[]): string | undefined {
  try {
    const parsed = schema.safeParse(value);
    return parsed.success ? undefined : issueText(parsed.error, keys);
  } catch (error) {
    // A check can fail on a value of another type, such as an object with a field `length` in place
    // of a string.
    return `${toPointer(keys)}: the check failed: ${messageOf(error)}`;
  }
}
