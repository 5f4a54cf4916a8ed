import fc from 'fast-check';

/** JSON as the tests build and change it by hand. */
export type Value = null | boolean | number | string | Value[] | { [key: string]: Value };
export type Container = Value[] | { [key: string]: Value };

export function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}

/** Defines an own data property, for any name. */
export function setMember(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

/** A deep copy, made in the plainest way. */
export function clone<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item) => clone(item)) as T;
  if (!isContainer(value)) return value;
  const copy = {};
  for (const key of Object.keys(value)) {
    const member = clone((value as Record<string, unknown>)[key]);
    // The one name that means another thing when it is assigned to.
    if (key === '__proto__') setMember(copy, key, member);
    else (copy as Record<string, unknown>)[key] = member;
  }
  return copy as T;
}

export function deepFreeze<T>(value: T): T {
  if (isContainer(value)) for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}

/** Keys with a meaning in the language, in pointers or in sorting, and keys without a meaning. */
export const ODD_KEYS: readonly string[] = [
  'a',
  'b',
  'c',
  '__proto__',
  'constructor',
  'toString',
  'length',
  '0',
  '10',
  '9',
  '',
  '-',
  '*',
  'a/b',
  'a~b',
  'a!',
  '\u{1f600}',
  '\uffff',
];

export const oddKey: fc.Arbitrary<string> = fc.constantFrom(...ODD_KEYS);

export const scalar: fc.Arbitrary<Value> = fc.constantFrom<Value[]>(
  null,
  true,
  false,
  0,
  1,
  -1,
  0.5,
  '',
  'x',
  'y/~',
);

/** Any JSON value of a few levels, with odd keys. */
export const jsonValue: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    members(tie('value')),
  ),
})).value;

/** A world's state: an object. */
export const jsonState: fc.Arbitrary<{ [key: string]: Value }> = members(jsonValue, 5);

function members(
  value: fc.Arbitrary<Value>,
  maxLength = 4,
): fc.Arbitrary<{ [key: string]: Value }> {
  return fc
    .uniqueArray(fc.tuple(oddKey, value), { maxLength, selector: ([key]) => key })
    .map((pairs) => {
      const object = {};
      for (const [key, member] of pairs) setMember(object, key, member);
      return object;
    });
}
