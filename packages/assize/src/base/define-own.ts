/** Writes an own data property of any name: `object['__proto__'] = x` would set the prototype. */
export function defineOwn(object: object, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else (object as Record<string, unknown>)[key] = value;
}
