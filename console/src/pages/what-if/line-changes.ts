/** A line that only one of two texts has. */
export interface LineChange {
  readonly sign: '+' | '-';
  readonly line: string;
}

/** Longer middle parts count as replaced as a whole, so that a key press stays quick. */
const COMPARED_MAX = 400;

/** The lines of a longest common subsequence stay, and all others are changes. */
export function changedLines(before: string, after: string): readonly LineChange[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  while (a.length > 0 && b.length > 0 && a[0] === b[0]) {
    a.shift();
    b.shift();
  }
  while (a.length > 0 && b.length > 0 && a.at(-1) === b.at(-1)) {
    a.pop();
    b.pop();
  }
  const isLong = a.length > COMPARED_MAX || b.length > COMPARED_MAX;
  const lengths = isLong ? undefined : commonLengths(a, b);
  const changes: LineChange[] = [];
  for (let [i, j] = [0, 0]; i < a.length || j < b.length; ) {
    const below = lengths?.[i + 1]?.[j] ?? (i < a.length ? 0 : -1);
    const beside = lengths?.[i]?.[j + 1] ?? (j < b.length ? 0 : -1);
    if (lengths !== undefined && i < a.length && j < b.length && a[i] === b[j]) {
      i++;
      j++;
    } else if (i < a.length && (j === b.length || below >= beside))
      changes.push({ sign: '-', line: a[i++] as string });
    else changes.push({ sign: '+', line: b[j++] as string });
  }
  return changes;
}

/** The length of the longest common subsequence of the rests of two lists, by their starts. */
function commonLengths(a: readonly string[], b: readonly string[]): readonly (readonly number[])[] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i]![j] =
        a[i] === b[j]
          ? lengths[i + 1]![j + 1] + 1
          : Math.max(lengths[i + 1]![j], lengths[i]![j + 1]);
  return lengths;
}
