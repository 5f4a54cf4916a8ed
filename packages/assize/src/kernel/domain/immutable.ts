/**
 * A copy of data that is frozen at every depth. Functions, and objects of classes, stay in it as
 * they are.
 */
export function frozenCopy<T>(value: T): T;
export function frozenCopy(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy));
  if (!isPlain(value)) return value;
  return Object.freeze(
    Object.fromEntries(Object.entries(value).map(([name, member]) => [name, frozenCopy(member)])),
  );
}

/**
 * Freezes data at every depth, with its maps and sets, and returns it. Objects of other classes
 * stay as they are.
 */
export function frozenParts<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (value instanceof Map) {
    refuseChanges(value, ['set', 'delete', 'clear']);
    for (const member of value.values()) frozenParts(member);
  } else if (value instanceof Set) {
    refuseChanges(value, ['add', 'delete', 'clear']);
    for (const member of value) frozenParts(member);
  } else {
    Object.freeze(value);
    for (const member of Object.values(value)) frozenParts(member);
  }
  return value;
}

/** Freezes an object, and replaces the methods by which it would still change. */
export function refuseChanges(object: object, methods: readonly string[]): void {
  for (const method of methods) Object.defineProperty(object, method, { value: refuse });
  Object.freeze(object);
}

function refuse(): never {
  throw new TypeError('A domain cannot be changed. Define another one.');
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
