import { z } from 'zod';
import { markOwnPackage, refuseDuplicatePackage } from '#base';
import { issueText, type RawIssue, type SchemaIssues } from '#canon';
import { KernelError } from '../errors.ts';
import { ANY, compileScope, type Pattern, type PatternSegment, type Scope } from './footprint.ts';

/** The value that replaces an erased value in a state: the hash of its recorded text. */
const erased = markOwnPackage(z.strictObject({ $erased: z.string().regex(/^[0-9a-f]{64}$/) }));

export type Erased = z.infer<typeof erased>;

/**
 * Marks a value that may have to be erased: a name, a diagnosis, free text. The ledger stores only
 * its salted hash, so `Trajectory.erase` can remove it permanently and every other hash stays the
 * same. The state then has `{"$erased": hash}` in its place, so that form is part of the type. A
 * change of any part records the whole value again: mark small values.
 *
 * Arguments with a sensitive part are stored as a whole by salted hash.
 */
export function sensitive<Schema extends z.ZodType>(
  schema: Schema,
): z.ZodUnion<readonly [Schema, typeof erased]> {
  return z.union([schema, erased], { error: valueIssues });
}

/** The issues of the value itself. Only an erasure writes the other form, so no text names it. */
function valueIssues(raw: RawIssue): string | undefined {
  const [issues = []] =
    (raw as { readonly errors?: readonly SchemaIssues['issues'][] }).errors ?? [];
  return issues.length === 0 ? undefined : issueText({ issues });
}

export function isErased(value: unknown): value is Erased {
  return typeof value === 'object' && value !== null && erased.safeParse(value).success;
}

/** Compares the options of the union, so an added description or check keeps the mark. */
export function isSensitive(schema: z.ZodType): boolean {
  const { type, options } = schema._zod.def as {
    readonly type: string;
    readonly options?: readonly z.ZodType[];
  };
  return type === 'union' && options?.some(isErasedSchema) === true;
}

/**
 * Whether a schema is the mark itself. `strictSchema` leaves the mark unchanged.
 *
 * @throws DuplicatePackageError `duplicate_package` for the mark of another copy: it would leave a
 * value unmarked
 */
export function isErasedSchema(schema: z.ZodType): boolean {
  refuseDuplicatePackage(schema, 'The schema marked `sensitive`');
  return schema === erased;
}

/**
 * The sensitive places of a state. Returns undefined if the state has none, so most domains pay
 * nothing.
 */
export function sensitiveScope(patterns: readonly Pattern[]): Scope | undefined {
  return patterns.length === 0 ? undefined : compileScope(patterns);
}

/**
 * The places of sensitive values in a schema of a state.
 *
 * @throws KernelError `invalid_domain` for a place at which a value cannot be recognised as
 * sensitive
 */
export function sensitivePlaces(
  schema: z.ZodType,
  path: readonly PatternSegment[] = [],
): Pattern[] {
  if (isSensitive(schema)) {
    if (path.length === 0)
      throw new KernelError(
        'invalid_domain',
        'The whole state is marked sensitive. Mark its parts instead.',
      );
    return [{ segments: path, append: false }];
  }
  const {
    shape = {},
    valueType,
    element,
    innerType,
    options = [],
    items = [],
    rest,
  } = schema._zod.def as {
    readonly shape?: Readonly<Record<string, z.ZodType>>;
    readonly valueType?: z.ZodType;
    readonly element?: z.ZodType;
    readonly innerType?: z.ZodType;
    readonly options?: readonly z.ZodType[];
    readonly items?: readonly z.ZodType[];
    readonly rest?: z.ZodType | null;
  };
  const either = [...options, ...items, ...(rest == null ? [] : [rest])];
  if (either.some((part) => sensitivePlaces(part, ['']).length > 0)) {
    throw new KernelError(
      'invalid_domain',
      'A part of a union or tuple is marked sensitive. Mark the whole union or tuple.',
    );
  }
  return [
    ...Object.entries(shape).flatMap(([key, part]) => sensitivePlaces(part, [...path, key])),
    ...[valueType, element].flatMap((part) =>
      part === undefined ? [] : sensitivePlaces(part, [...path, ANY]),
    ),
    ...(innerType === undefined ? [] : sensitivePlaces(innerType, path)),
  ];
}

/** Whether a schema of arguments has a sensitive part at any depth. */
export function hasSensitivePart(schema: z.ZodType): boolean {
  if (isSensitive(schema)) return true;
  return Object.values(schema._zod.def as object).some((part) =>
    isSchema(part)
      ? hasSensitivePart(part)
      : isParts(part) &&
        Object.values(part).some((each) => isSchema(each) && hasSensitivePart(each)),
  );
}

/** Whether a value contains an erased value. Only an erasure writes one, never an agent. */
export function hasErased(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return isErased(value) || Object.values(value).some(hasErased);
}

function isSchema(part: unknown): part is z.ZodType {
  return typeof part === 'object' && part !== null && '_zod' in part;
}

function isParts(part: unknown): part is object {
  return typeof part === 'object' && part !== null && !isSchema(part);
}
