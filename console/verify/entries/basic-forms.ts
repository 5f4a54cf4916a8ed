/** Whether a value has a form. Returns the reason if it does not, as a predicate; '' if it does. */
export type Form = (value: unknown) => string;

export type Members = Readonly<Record<string, unknown>>;

const HASH = /^[0-9a-f]{64}$/;
const SIGNATURE = /^[0-9a-f]{128}$/;
const INSTANT = /^(\d{4})-(\d\d)-(\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z$/;
export const OPEN_START = '0000-01-01T00:00:00.000000Z';
export const OPEN_END = '9999-12-31T00:00:00.000000Z';

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isHash(value: unknown): value is string {
  return typeof value === 'string' && HASH.test(value);
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** An instant of the years 1 to 9998, to the microsecond. */
export function isInstant(value: unknown): value is string {
  const parts = typeof value === 'string' ? INSTANT.exec(value) : null;
  if (parts === null) return false;
  const [year = 0, month = 0, day = 0] = parts.slice(1).map(Number);
  return (
    year >= 1 && year <= 9998 && month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month)
  );
}

function daysOf(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** Text of a row of beliefs. */
export function isColumn(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('\0');
}

/** Text of 1 to 512 units, as writs have them. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length >= 1 && value.length <= 512;
}

/** An object that a position for stored values reads as a reference. */
export function isReferenceLike(value: unknown): value is Members {
  return isObject(value) && ('$blob' in value || '$erased' in value);
}

/** A reference to a blob, salted or not. */
export function isReference(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { $blob, bytes, salted, ...more } = value;
  return (
    isHash($blob) && isCount(bytes) && (salted === true || !('salted' in value)) && isEmpty(more)
  );
}

/** The mark that stands in a state for an erased value. */
function isErased(value: Members): boolean {
  return isHash(value['$erased']) && Object.keys(value).length === 1;
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}

const isStored = (value: unknown) => !isReferenceLike(value) || isReference(value);
const isPlain = (value: unknown) => isReference(value) && !('salted' in (value as Members));

/** Of operations only that the references among their values have the form of references. */
function isOperations(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every((one) => {
      const held = isObject(one) ? one['value'] : undefined;
      return !isReferenceLike(held) || isReference(held) || isErased(held);
    })
  );
}

function form(test: (value: unknown) => boolean, name: string): Form {
  return (value) => (test(value) ? '' : `is not ${name}`);
}

/** The forms of single values, by their names in the tables. */
export const BASIC: Readonly<Record<string, Form>> = {
  value: () => '',
  text: form((v) => typeof v === 'string', 'text'),
  hash: form(isHash, 'a hash'),
  hash_or_null: form((v) => v === null || isHash(v), 'a hash or null'),
  count: form(isCount, 'a count'),
  from_one: form((v) => isCount(v) && v >= 1, 'a count from 1'),
  several: form((v) => isCount(v) && v >= 2 && v <= 8, 'a number from 2 to 8'),
  depth: form((v) => isCount(v) && v <= 8, 'a number from 0 to 8'),
  one: form((v) => v === 1, '1'),
  true: form((v) => v === true, 'true'),
  confidence: form((v) => typeof v === 'number' && v >= 0 && v <= 1, 'a number from 0 to 1'),
  instant: form(isInstant, 'an instant'),
  start: form((v) => v === OPEN_START || isInstant(v), 'an instant or the open start'),
  end: form((v) => v === OPEN_END || isInstant(v), 'an instant or the open end'),
  signature: form((v) => typeof v === 'string' && SIGNATURE.test(v), 'a signature'),
  list: form(Array.isArray, 'a list'),
  empty: form((v) => Array.isArray(v) && v.length === 0, 'an empty list'),
  name: form(isName, 'a text of 1 to 512 units'),
  trajectory: form((v) => typeof v === 'string' && !v.includes('\0'), 'a text without U+0000'),
  column: form(isColumn, 'a text that is not empty, without U+0000'),
  column_or_null: form((v) => v === null || isColumn(v), 'such a text or null'),
  current: form((v) => v === 'current', 'current'),
  freezing: form(
    (v) => v === 'world' || (Array.isArray(v) && v.every((x) => typeof x === 'string')),
    'a freeze',
  ),
  stored: form(isStored, 'a value or a reference'),
  salted: form((v) => isReference(v) && 'salted' in (v as Members), 'a salted reference'),
  stored_object: form(
    (v) => (isReferenceLike(v) ? isPlain(v) : isObject(v)),
    'an object or its reference',
  ),
  operations: form(isOperations, 'a list of operations'),
  stored_operations: form(
    (v) => (isReferenceLike(v) ? isPlain(v) : isOperations(v)),
    'operations or their reference',
  ),
};
