/** The lines that two texts differ in, as a person reads them before a change: `+ added`. */
export function difference(before: string, after: string): readonly string[] {
  const [a, b] = withoutCommonEnds(linesOf(before), linesOf(after));
  const lengths = commonLengths(a, b);
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      i++;
      j++;
    } else if (j < b.length && (i === a.length || at(lengths, i, j + 1) >= at(lengths, i + 1, j)))
      lines.push(`+ ${b[j++]}`);
    else lines.push(`- ${a[i++]}`);
  }
  return lines;
}

function linesOf(text: string): readonly string[] {
  return text.split(/\r?\n/).filter((line) => line !== '');
}

/** A long file with a small change is compared around the change only. */
function withoutCommonEnds(
  a: readonly string[],
  b: readonly string[],
): [readonly string[], readonly string[]] {
  const most = Math.min(a.length, b.length);
  let first = 0;
  while (first < most && a[first] === b[first]) first++;
  let last = 0;
  while (last < most - first && a.at(-1 - last) === b.at(-1 - last)) last++;
  return [a.slice(first, a.length - last), b.slice(first, b.length - last)];
}

/** The lengths of the longest common parts of the ends from each pair of lines on. */
function commonLengths(a: readonly string[], b: readonly string[]): readonly (readonly number[])[] {
  const lengths = Array.from({ length: a.length + 1 }, () =>
    new Array<number>(b.length + 1).fill(0),
  );
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      (lengths[i] as number[])[j] =
        a[i] === b[j]
          ? at(lengths, i + 1, j + 1) + 1
          : Math.max(at(lengths, i + 1, j), at(lengths, i, j + 1));
  return lengths;
}

function at(lengths: readonly (readonly number[])[], i: number, j: number): number {
  return lengths[i]?.[j] ?? 0;
}
