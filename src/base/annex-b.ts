/** Of `Object.prototype`, in every engine (ECMA-262 annex B.2.2.4), but not in TypeScript's library. */
const { __lookupGetter__ } = Object.prototype as unknown as {
  readonly __lookupGetter__: (this: object, key: PropertyKey) => unknown;
};

/**
 * True when the array's item is computed by a getter, which is not called. For items this takes a third of the time of
 * `Object.getOwnPropertyDescriptor`, for members it would take twice as long.
 */
export function isComputed(array: readonly unknown[], index: number): boolean {
  return __lookupGetter__.call(array, index) !== undefined;
}
