import { types } from 'node:util';
import { z } from 'zod';

/** Set on the values that only one copy of the package may use, such as domains and tools. */
const MADE_BY: unique symbol = Symbol.for('assize.made-by') as never;

/**
 * Objects that hold no data of the library. Promises and signals belong to the platform, and
 * schemas to zod and to the author of the domain.
 */
export function isOpaque(object: object): boolean {
  // A view of the state, in which a look for other members is a fault.
  if (types.isProxy(object)) return false;
  return object instanceof Promise || object instanceof AbortSignal || object instanceof z.ZodType;
}

/** A value that its maker marked. It is used by its identity, so a copy of it has no meaning. */
export function isMarked(object: object): boolean {
  return Object.hasOwn(object, MADE_BY);
}

/** An object with methods of its class, such as an open trajectory. */
export function isHandle(object: object): boolean {
  if (types.isProxy(object)) return false;
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype === null || prototype === Object.prototype || ArrayBuffer.isView(object))
    return false;
  return !PLAIN.some((plain) => object instanceof plain) && !isOpaque(object);
}

const PLAIN = [Array, Map, Set, Error] as const;
