/**
 * Freezes JSON made in this process, and returns it. Not recursive, because a state may be deep.
 */
export function frozen<T>(value: T): T {
  const left: unknown[] = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const member of Object.values(next)) left.push(member);
  }
  return value;
}
