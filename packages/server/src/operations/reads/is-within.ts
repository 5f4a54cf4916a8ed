/**
 * Whether the text of a JSON value may have no more than that many characters: escapes count as
 * one. Looks no further, so a large value costs no more than a small one.
 */
export function isWithin(value: unknown, most: number): boolean {
  return left(value, most) >= 0;
}

function left(value: unknown, most: number): number {
  if (typeof value === 'string') return most - value.length - 2;
  if (typeof value !== 'object' || value === null) return most - String(value).length;
  const isList = Array.isArray(value);
  let rest = most - 1;
  for (const key in value) {
    if (rest < 0) return rest;
    rest = left(
      (value as Readonly<Record<string, unknown>>)[key],
      rest - (isList ? 1 : key.length + 4),
    );
  }
  return rest;
}
