/** The text of a value that was handed out, and a copy to go on with. */
import { isHandle, isMarked, isOpaque } from './opaque.ts';

/** A text with everything that a value says. Equal values have equal texts. */
export function textOf(value: unknown, above: readonly object[] = []): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'function') return '[function]';
  if (typeof value !== 'object' || value === null) return String(value);
  if (isOpaque(value) || above.includes(value)) return '[opaque]';
  const inner = (member: unknown): string => textOf(member, [...above, value]);
  if (isMarked(value)) return `[made ${String((value as { name?: unknown }).name)}]`;
  if (ArrayBuffer.isView(value))
    return `[bytes ${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}]`;
  if (Array.isArray(value)) return `[${value.map(inner).join(',')}]`;
  if (value instanceof Map) return `Map${inner([...value])}`;
  if (value instanceof Set) return `Set${inner([...value])}`;
  if (value instanceof Error) {
    const { name, message, ...rest } = value;
    return `${value.name}: ${value.message} ${inner(rest)}`;
  }
  const members = Object.keys(value).sort();
  const body = members.map((name) => `${name}:${inner((value as Record<string, unknown>)[name])}`);
  return `${isHandle(value) ? value.constructor.name : ''}{${body.join(',')}}`;
}

/** A copy that shares no object with the value, except objects that are used by their identity. */
export function copyOf<T>(value: T): T;
export function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (isOpaque(value) || isMarked(value) || isHandle(value)) return value;
  if (ArrayBuffer.isView(value)) return structuredClone(value);
  if (Array.isArray(value)) return value.map(copyOf);
  if (value instanceof Map)
    return new Map([...value].map(([key, member]) => [copyOf(key), copyOf(member)]));
  if (value instanceof Set) return new Set([...value].map(copyOf));
  const copy = value instanceof Error ? Object.create(Object.getPrototypeOf(value)) : {};
  for (const name of Reflect.ownKeys(value))
    Object.defineProperty(copy, name, {
      value: copyOf((value as Record<PropertyKey, unknown>)[name]),
      enumerable: Object.getOwnPropertyDescriptor(value, name)?.enumerable === true,
    });
  return copy;
}
