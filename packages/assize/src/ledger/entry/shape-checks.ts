/** Whether a value has a form. The forms of payloads are built from such checks. */
export type Check = (value: unknown) => boolean;

export const isObject: Check = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const isText: Check = (value) => typeof value === 'string';
export const isList: Check = (value) => Array.isArray(value);
export const isSeq: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;

export function oneOf(...names: string[]): Check {
  const known = new Set<unknown>(names);
  return (value) => known.has(value);
}

/** Accepts a list if every item passes. */
export function listOf(check: Check): Check {
  return (value) => isList(value) && (value as unknown[]).every(check);
}

/** Accepts an object if every field passes. */
export function each(check: Check): Check {
  return (value) => {
    if (!isObject(value)) return false;
    for (const name of Object.keys(value as object)) {
      if (!check((value as Record<string, unknown>)[name])) return false;
    }
    return true;
  };
}

export function either(...checks: Check[]): Check {
  return (value) => checks.some((check) => check(value));
}

/** Accepts an object with exactly these fields. */
export function members(
  required: Record<string, Check>,
  optional: Record<string, Check> = {},
): Check {
  const shape = shapeOf(required, optional);
  return (value) => memberFault(value, shape) === undefined;
}

/** The required and optional fields of an object. */
export interface Shape {
  readonly required: readonly Member[];
  readonly optional: readonly Member[];
}

type Member = readonly [name: string, check: Check];

export function shapeOf(required: Record<string, Check>, optional: Record<string, Check>): Shape {
  return { required: Object.entries(required), optional: Object.entries(optional) };
}

/** The violation in the fields of a value, or undefined. */
export function memberFault(value: unknown, { required, optional }: Shape): string | undefined {
  if (!isObject(value)) return 'an object was expected';
  const object = value as Record<string, unknown>;
  let count = 0;
  for (const [name, check] of required) {
    if (!Object.hasOwn(object, name)) return `${name} is missing`;
    if (!check(object[name])) return `${name} is not valid`;
    count++;
  }
  for (const [name, check] of optional) {
    if (!Object.hasOwn(object, name)) continue;
    if (!check(object[name])) return `${name} is not valid`;
    count++;
  }
  if (Object.keys(object).length === count) return undefined;
  const known = new Set([...required, ...optional].map(([name]) => name));
  return `${Object.keys(object).find((name) => !known.has(name))} is not a known field`;
}
