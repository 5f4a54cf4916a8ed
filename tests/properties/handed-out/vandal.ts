/**
 * A caller that tries to change every object that it can reach in a value. Frozen objects refuse,
 * and copies change. The library must not notice either.
 */
import { isHandle, isMarked, isOpaque } from './opaque.ts';

/** Changes every object that a value leads to, where the objects allow it. */
export function vandalise(value: unknown): void {
  const { stackTraceLimit } = Error;
  // The stacks of thousands of refusals would take most of the time.
  Error.stackTraceLimit = 0;
  try {
    // All are found first, because a change may hide the way to others.
    for (const object of reachable(value)) spoil(object);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** The objects that a value leads to by own members, and by the members of maps and sets. */
export function reachable(value: unknown): ReadonlySet<object> {
  const found = new Set<object>();
  const left: unknown[] = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next !== 'object' || next === null || found.has(next) || isOpaque(next)) continue;
    found.add(next);
    left.push(...membersOf(next));
  }
  return found;
}

function membersOf(object: object): unknown[] {
  if (ArrayBuffer.isView(object)) return [];
  const keys = attempt(() => Reflect.ownKeys(object)) ?? [];
  // The declaration of a domain is the object that its author has passed.
  const own = isMarked(object) ? keys.filter((key) => key !== 'declared') : keys;
  const members: unknown[] = own.map((key) => attempt(() => Reflect.get(object, key)));
  if (object instanceof Map) members.push(...object.keys(), ...object.values());
  if (object instanceof Set) members.push(...object);
  return members;
}

function spoil(object: object): void {
  if (ArrayBuffer.isView(object)) {
    new Uint8Array(object.buffer, object.byteOffset, object.byteLength).fill(0xee);
    return;
  }
  if (object instanceof Map) attempt(() => object.set('vandal', 1).clear());
  if (object instanceof Set) attempt(() => object.add('vandal').clear());
  if (Array.isArray(object)) for (const change of LIST_CHANGES) attempt(() => change(object));
  for (const key of attempt(() => Reflect.ownKeys(object)) ?? []) {
    if (key === 'length' && Array.isArray(object)) continue;
    attempt(() => Reflect.set(object, key, 'vandal'));
    attempt(() =>
      Reflect.defineProperty(object, key, { value: 'vandal', configurable: true, writable: true }),
    );
    attempt(() => Reflect.deleteProperty(object, key));
  }
  if (isHandle(object))
    for (const name of methodsOf(object)) attempt(() => Reflect.set(object, name, () => 'vandal'));
  attempt(() => Reflect.set(object, 'vandal', { vandal: true }));
  attempt(() => Object.preventExtensions(object));
}

/** The names of the methods and getters of a class and of the classes above it. */
export function methodsOf(handle: object): readonly string[] {
  const prototype: unknown = Object.getPrototypeOf(handle);
  if (typeof prototype !== 'object' || prototype === null || prototype === Object.prototype)
    return [];
  const own = Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');
  return [...new Set([...own, ...methodsOf(prototype)])];
}

const LIST_CHANGES: readonly ((list: unknown[]) => unknown)[] = [
  (list) => list.reverse(),
  (list) => list.push('vandal'),
  (list) => list.unshift({ vandal: true }),
  (list) => list.splice(0, 1),
];

/**
 * A frozen object refuses with a TypeError, and a view of the state with a fault of its footprint.
 * Any other error is a fault of the library.
 */
function attempt<T>(change: () => T): T | undefined {
  try {
    return change();
  } catch (error) {
    if (error instanceof TypeError || (error as object).constructor.name === 'FootprintFault')
      return undefined;
    throw error;
  }
}
