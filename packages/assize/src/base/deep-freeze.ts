/** Freezes plain data at every depth, and returns it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value);
    for (const name in value) deepFreeze(value[name]);
  }
  return value;
}
