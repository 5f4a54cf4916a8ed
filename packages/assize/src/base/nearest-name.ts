/**
 * The name that is most like `given`. Undefined if each differs in more than a third of its
 * characters.
 */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((name) => ({ name, edits: editsBetween(given.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, edits }) => edits <= Math.ceil(Math.max(given.length, name.length) / 3))
    .sort((one, other) => one.edits - other.edits);
  return ranked[0]?.name;
}

/** Longest name that is compared, because the work grows with the square. */
const COMPARED_MAX = 64;

/** How many characters are inserted, removed, replaced or swapped with the next one. */
function editsBetween(one: string, other: string): number {
  if (one.length > COMPARED_MAX || other.length > COMPARED_MAX) return Number.POSITIVE_INFINITY;
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = (row[j - 1] as number) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swapped = isSwap ? (before[j - 2] as number) + 1 : replaced;
      next.push(Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, replaced, swapped));
    }
    [before, row] = [row, next];
  }
  return row[other.length] as number;
}
