/** A line of two texts: in the first alone, in the second alone, or in both. */
export interface DiffLine {
  readonly sign: '-' | '+' | ' ';
  readonly text: string;
}

/** Above this number of pairs of lines, the changed part is shown as all removed and all added. */
const PAIRS_MAX = 4_000_000;

/** The lines of two texts with a longest common subsequence of them kept. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (
    end < old.length - start &&
    end < now.length - start &&
    old.at(-1 - end) === now.at(-1 - end)
  )
    end++;
  const kept = (from: number, to: number): DiffLine[] =>
    old.slice(from, to).map((text) => ({ sign: ' ', text }));
  return [
    ...kept(0, start),
    ...changed(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...kept(old.length - end, old.length),
  ];
}

function changed(old: readonly string[], now: readonly string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ sign: '-', text });
  const added = (text: string): DiffLine => ({ sign: '+', text });
  if (old.length * now.length > PAIRS_MAX) return [...old.map(removed), ...now.map(added)];
  // The length of the longest common subsequence of the rest from each pair of lines on.
  const width = now.length + 1;
  const rest = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--) {
      const [down = 0, right = 0, both = 0] = [
        rest[(i + 1) * width + j],
        rest[i * width + j + 1],
        rest[(i + 1) * width + j + 1],
      ];
      rest[i * width + j] = old[i] === now[j] ? both + 1 : Math.max(down, right);
    }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length && j < now.length) {
    const [a = '', b = ''] = [old[i], now[j]];
    if (a === b) {
      lines.push({ sign: ' ', text: a });
      i++;
      j++;
    } else if ((rest[(i + 1) * width + j] ?? 0) >= (rest[i * width + j + 1] ?? 0)) {
      lines.push(removed(a));
      i++;
    } else {
      lines.push(added(b));
      j++;
    }
  }
  return [...lines, ...old.slice(i).map(removed), ...now.slice(j).map(added)];
}
