type Members = Readonly<Record<string, unknown>>;

/** Whether two JSON values are the same, regardless of the order of members. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (!isContainer(one) || !isContainer(other)) return Object.is(one, other);
  const names = Object.keys(one);
  return (
    Array.isArray(one) === Array.isArray(other) &&
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSameJson(one[name], other[name]))
  );
}

function isContainer(value: unknown): value is Members {
  return typeof value === 'object' && value !== null;
}
