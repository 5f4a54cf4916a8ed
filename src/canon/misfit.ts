import { toPointer } from './pointer.ts';

/** What a schema says of a value that does not fit it; those of zod have this form. */
export interface Misfits {
  readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
}

/** The first thing that does not fit, with its place as a JSON pointer (below `keys`), and how many more there are. */
export function issueText({ issues: [first, ...more] }: Misfits, keys: readonly string[] = []): string {
  const pointer = toPointer([...keys, ...(first?.path ?? []).map(String)]);
  const others = more.length > 0 ? ` (and ${more.length} more)` : '';
  return `${pointer === '' ? '' : `${pointer}: `}${first?.message ?? ''}${others}`;
}

/** One of zod's issues as it is made: by its code it has more, of which only numbers and texts are said. */
export interface RawIssue {
  readonly code?: string | undefined;
  readonly input?: unknown;
}

/**
 * What does not fit, in plain words: to be given to a parse as its `error`. What whoever made the schema says themselves goes before it;
 * undefined where there is nothing better than what zod says.
 */
export function issueWords(raw: RawIssue): string | undefined {
  const issue = raw as RawIssue & { readonly [member: string]: unknown };
  switch (issue.code) {
    case 'invalid_type':
      return `it has to be ${named(issue['expected'])}, and is ${issue.input === undefined ? 'missing' : typeOf(issue.input)}`;
    case 'invalid_value':
      return `it has to be ${listed(issue['values'], ' or ')}`;
    case 'unrecognized_keys':
      return `there is no member ${listed(issue['keys'], ' and no member ')}`;
    case 'too_small':
      return bounded(issue, issue['minimum'], issue['inclusive'] === false ? 'more than' : 'at least');
    case 'too_big':
      return bounded(issue, issue['maximum'], issue['inclusive'] === false ? 'less than' : 'at most');
    case 'not_multiple_of':
      return `it has to be a multiple of ${issue['divisor']}`;
    case 'invalid_format':
      return `it has to be a text of the form ${issue['format']}`;
    case 'invalid_union':
      return 'it has none of the forms that it may have';
    case 'custom':
      return 'it does not pass a check that was made for it';
    default:
      return undefined;
  }
}

const NAMES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  tuple: 'a list',
  null: 'null',
};

function named(type: unknown): string {
  return NAMES[String(type)] ?? `of the type ${type}`;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'number' && !Number.isInteger(value)) return Number.isFinite(value) ? `${value}` : 'no number';
  return Array.isArray(value) ? 'a list' : named(typeof value);
}

function listed(values: unknown, between: string): string {
  return (Array.isArray(values) ? values : [values]).map(quoted).join(between);
}

/** A schema may want what no JSON has. */
function quoted(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

const COUNTED: Readonly<Record<string, string>> = {
  string: 'characters',
  array: 'items',
  set: 'items',
  map: 'members',
};

function bounded(issue: { readonly [member: string]: unknown }, limit: unknown, relation: string): string {
  const how = issue['exact'] === true ? 'just' : relation;
  const what = COUNTED[String(issue['origin'])];
  return what === undefined ? `it has to be ${how} ${limit}` : `it has to have ${how} ${limit} ${what}`;
}
