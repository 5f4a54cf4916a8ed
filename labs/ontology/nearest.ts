/**
 * The name that was probably meant: the known name with the fewest changed letters, if they are
 * few.
 */
export function nearest(given: string, known: Iterable<string>): string | undefined {
  let best: { name: string; distance: number } | undefined;
  for (const name of known) {
    const distance = editDistance(given.toLowerCase(), name.toLowerCase());
    if (best === undefined || distance < best.distance) best = { name, distance };
  }
  return best !== undefined && best.distance <= Math.max(2, Math.floor(given.length / 4))
    ? best.name
    : undefined;
}

/** ` Did you mean X?`, or nothing. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const meant = nearest(given, known);
  return meant === undefined ? '' : ` Did you mean ${meant}?`;
}

/** The longest compared name. A longer name is not a typing error. */
const LENGTH_MAX = 200;

/** Letters put in, left out or exchanged (Levenshtein), one row at a time. */
function editDistance(a: string, b: string): number {
  if (a.length > LENGTH_MAX || b.length > LENGTH_MAX) return LENGTH_MAX;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const exchanged = (row[j] as number) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min(exchanged, (row[j + 1] as number) + 1, (next[j] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
