/**
 * Whether the text of a JSON value has about that many characters at most. Looks no further, so a
 * large value costs no more than a small one.
 */
export function isWithin(value: unknown, most: number): boolean {
  return left(value, most) >= 0;
}

function left(value: unknown, most: number): number {
  if (typeof value === 'string') return most - value.length - 2;
  if (typeof value !== 'object' || value === null) return most - 8;
  let rest = most - 2;
  for (const key in value) {
    if (rest < 0) return rest;
    rest = left((value as Readonly<Record<string, unknown>>)[key], rest - key.length - 3);
  }
  return rest;
}
