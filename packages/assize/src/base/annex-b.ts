/**
 * On `Object.prototype` in every engine (ECMA-262 annex B.2.2.4), but not in TypeScript's library.
 */
const { __lookupGetter__ } = Object.prototype as unknown as {
  readonly __lookupGetter__: (this: object, key: PropertyKey) => unknown;
};

/**
 * Whether a getter computes the array's item. The getter is not called. For items this takes a
 * third of the time of `Object.getOwnPropertyDescriptor`; for members it would take twice as long.
 */
export function isComputed(array: readonly unknown[], index: number): boolean {
  return __lookupGetter__.call(array, index) !== undefined;
}
