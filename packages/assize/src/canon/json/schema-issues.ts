import { toPointer } from './pointer.ts';

/** A schema's report on a value that does not fit. Errors of zod have this form. */
export interface SchemaIssues {
  readonly issues: readonly {
    readonly path: readonly PropertyKey[];
    readonly message: string;
    readonly code?: string | undefined;
  }[];
}

/** One misfit, with its place as a JSON pointer. The whole value has the place ''. */
export interface Misfit {
  readonly pointer: string;
  readonly message: string;
}

/** Maximum number of misfits in a text. */
const TOLD_MAX = 5;
/** Maximum number of misfits as data: a long list may have a misfit in each item. */
const MISFITS_MAX = 100;

/**
 * The misfits below `keys`. An unknown member comes first: a misspelled member makes the correct
 * one missing.
 */
export function misfitsOf(
  { issues }: SchemaIssues,
  keys: readonly string[] = [],
): readonly Misfit[] {
  const first = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  const inOrder = first === undefined ? [] : [first, ...issues.filter((issue) => issue !== first)];
  return inOrder
    .slice(0, MISFITS_MAX)
    .map(({ path, message }) => ({ pointer: toPointer([...keys, ...path.map(String)]), message }));
}

/** The misfits as a text, up to five, and the number of others. */
export function issueText(given: SchemaIssues, keys: readonly string[] = []): string {
  const told = misfitsOf(given, keys)
    .slice(0, TOLD_MAX)
    .map(({ pointer, message }) => `${pointer === '' ? '' : `${pointer}: `}${message}`);
  const others =
    given.issues.length > TOLD_MAX ? ` (and ${given.issues.length - TOLD_MAX} more)` : '';
  return `${told.join('; ')}${others}`;
}

/**
 * One of zod's raw issues. More fields depend on its code; only numbers and strings are reported.
 */
export interface RawIssue {
  readonly code?: string | undefined;
  readonly input?: unknown;
}

/**
 * The misfit in plain words, to pass to a parse as its `error`. A message of the schema's author
 * takes precedence. Undefined if zod's own message is best.
 */
export function issueWords(raw: RawIssue): string | undefined {
  const issue = raw as RawIssue & { readonly [member: string]: unknown };
  switch (issue.code) {
    case 'invalid_type':
      return unlike(named(issue['expected']), issue.input);
    case 'invalid_value':
      return `it must be ${listed(issue['values'], ' or ')}`;
    case 'unrecognized_keys':
      return `there is no field ${listed(issue['keys'], ' and no field ')}`;
    case 'too_small':
      return bounded(
        issue,
        issue['minimum'],
        issue['inclusive'] === false ? 'more than' : 'at least',
      );
    case 'too_big':
      return bounded(
        issue,
        issue['maximum'],
        issue['inclusive'] === false ? 'less than' : 'at most',
      );
    case 'not_multiple_of':
      return `it must be a multiple of ${issue['divisor']}`;
    case 'invalid_format':
      return formatted(issue);
    case 'invalid_union':
      return unionWords(issue['errors'], issue.input);
    case 'custom': {
      const wanted = wantedBy(issue);
      return wanted === undefined
        ? 'it fails a custom check of the schema'
        : unlike(wanted, issue.input);
    }
    default:
      return undefined;
  }
}

/** The formats of zod in words, with an example. */
const FORMATS: Readonly<Record<string, string>> = {
  email: 'an e-mail address, such as ada@example.com',
  url: 'a URL, such as https://example.com/a',
  uuid: 'a UUID, such as 123e4567-e89b-42d3-a456-426614174000',
  guid: 'a UUID, such as 123e4567-e89b-42d3-a456-426614174000',
  datetime: 'a date with a time, such as 2026-03-01T09:00:00Z',
  date: 'a day, such as 2026-03-01',
  time: 'a time, such as 09:00:00',
  duration: 'a duration, such as PT15M',
  ipv4: 'an address of IPv4, such as 192.0.2.1',
  ipv6: 'an address of IPv6, such as 2001:db8::1',
  base64: 'text in Base64, such as YWRh',
};

function formatted(issue: { readonly [member: string]: unknown }): string {
  const { format } = issue;
  switch (format) {
    case 'regex':
      return `it must match the regular expression ${issue['pattern']}`;
    case 'starts_with':
      return `it must start with ${quoted(issue['prefix'])}`;
    case 'ends_with':
      return `it must end with ${quoted(issue['suffix'])}`;
    case 'includes':
      return `it must contain ${quoted(issue['includes'])}`;
    default:
      return `it must be ${FORMATS[String(format)] ?? `a string of the form ${format}`}`;
  }
}

const NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  function: 'a function',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  tuple: 'a list',
  null: 'null',
};

function named(type: unknown): string {
  return NAMES[String(type)] ?? `of the type ${type}`;
}

/** Union members with a type name are listed. The schema's author describes the others. */
function unionWords(errors: unknown, input: unknown): string {
  const forms = Array.isArray(errors) ? errors.map(formName) : [];
  const isNamed = forms.length > 0 && forms.every((form) => form !== undefined);
  if (isNamed) return unlike([...new Set(forms)].join(' or '), input);
  return input === undefined ? 'it is missing' : 'it matches none of the allowed forms';
}

/** The expected form of a union member, by its report on a value that does not fit. */
function formName(
  issues: readonly (SchemaIssues['issues'][number] & { readonly [member: string]: unknown })[],
) {
  const [only, ...more] = issues;
  return only === undefined || more.length > 0 || only.path.length > 0 ? undefined : wantedBy(only);
}

/** The expected type. A type check declares it in its `params`. */
function wantedBy({
  code,
  expected,
  params,
}: {
  readonly [member: string]: unknown;
}): string | undefined {
  if (code === 'invalid_type') return named(expected);
  const of = (params as { readonly expected?: unknown } | undefined)?.expected;
  return of === undefined ? undefined : named(of);
}

function unlike(wanted: string, input: unknown): string {
  return `it must be ${wanted}, but is ${input === undefined ? 'missing' : typeOf(input)}`;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'number' && !Number.isInteger(value))
    return Number.isFinite(value) ? `${value}` : 'not a number';
  return Array.isArray(value) ? 'a list' : named(typeof value);
}

function listed(values: unknown, between: string): string {
  return (Array.isArray(values) ? values : [values]).map(quoted).join(between);
}

/** A schema may expect a value that JSON cannot represent. */
function quoted(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

const COUNTED: Readonly<Record<string, string>> = {
  string: 'characters',
  array: 'items',
  set: 'items',
  map: 'members',
};

function bounded(
  issue: { readonly [member: string]: unknown },
  limit: unknown,
  relation: string,
): string {
  const how = issue['exact'] === true ? 'exactly' : relation;
  const what = COUNTED[String(issue['origin'])];
  return what === undefined ? `it must be ${how} ${limit}` : `it must have ${how} ${limit} ${what}`;
}
