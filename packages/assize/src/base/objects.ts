/** Whether a value is an object with named members: neither null nor an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Writes an own data property of any name: `object['__proto__'] = x` would set the prototype. */
export function defineOwn(object: object, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  } else (object as Record<string, unknown>)[key] = value;
}

/** Freezes plain data at every depth, and returns it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value);
    for (const name in value) deepFreeze(value[name]);
  }
  return value;
}

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
