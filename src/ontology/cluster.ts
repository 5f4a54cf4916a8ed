/** What processes share, and the groups that they form by it (seed 000, Procedure 1). Pure of ontologies: names and sets. */

/** A process with all that it touches. */
export interface Footed {
  readonly name: string;
  readonly touches: ReadonlySet<string>;
}

/** Two groups became one. */
export interface Merge {
  readonly left: readonly string[];
  readonly right: readonly string[];
  /** How much of the smaller footprint the other one has, from 0 to 1; undefined where policy put them together. */
  readonly overlap: number | undefined;
}

export interface Clustering {
  /** Each in the order of the processes. */
  readonly groups: readonly (readonly string[])[];
  readonly merges: readonly Merge[];
  /** The pair that came nearest to the threshold without being merged, policy aside. */
  readonly next: Merge | undefined;
  /** What was near enough and is kept apart by policy. */
  readonly apart: readonly Merge[];
  /** What each component says when it is shared: 0 if every process touches it. */
  readonly weights: ReadonlyMap<string, number>;
}

export interface Division {
  readonly apart: readonly (readonly [string, string])[];
  readonly together: readonly (readonly [string, string])[];
}

/**
 * Half. Two groups are one role while what both touch weighs at least half of what the smaller one touches: below that, the
 * joined role would show each side more that is new to it than it knew before.
 */
export const OVERLAP_MIN = 0.5;

/**
 * Merges the two groups that overlap most, again and again, as long as they overlap by the threshold. A component that every
 * process touches weighs nothing, one that few touch much: ln(processes / those that touch it). The footprint of a group is
 * the union of its processes' (Definition A.6), so a process that a group contains joins it and widens nothing. Of pairs that
 * overlap alike, the one whose processes come first.
 */
export function cluster(processes: readonly Footed[], division: Division, threshold: number = OVERLAP_MIN): Clustering {
  const weights = weightsOf(processes);
  const overlap = (a: Group, b: Group): number => overlapOf(a.touches, b.touches, weights);
  const mayJoin = (a: Group, b: Group): boolean =>
    !division.apart.some(
      ([one, other]) =>
        (a.names.includes(one) && b.names.includes(other)) || (a.names.includes(other) && b.names.includes(one)),
    );
  let groups: readonly Group[] = processes.map(({ name, touches }) => ({ names: [name], touches }));
  const merges: Merge[] = [];
  for (const [one, other] of division.together) {
    const [left, right] = [
      groups.find(({ names }) => names.includes(one)),
      groups.find(({ names }) => names.includes(other)),
    ];
    if (left === undefined || right === undefined || left === right) continue;
    merges.push({ left: left.names, right: right.names, overlap: undefined });
    groups = joined(groups, left, right);
  }
  for (;;) {
    const pairs = pairsOf(groups).map(([left, right]) => ({
      left,
      right,
      overlap: overlap(left, right),
      free: mayJoin(left, right),
    }));
    const best = firstGreatest(pairs.filter(({ free }) => free));
    if (best === undefined || best.overlap < threshold) {
      const apart = pairs.filter((pair) => !pair.free && pair.overlap >= threshold).map(asMerge);
      return { groups: groups.map(({ names }) => names), merges, next: best && asMerge(best), apart, weights };
    }
    merges.push(asMerge(best));
    groups = joined(groups, best.left, best.right);
  }
}

interface Group {
  readonly names: readonly string[];
  readonly touches: ReadonlySet<string>;
}

/** What both touch, as a part of what the smaller one touches. Who touches only what all touch is contained in anybody. */
function overlapOf(a: ReadonlySet<string>, b: ReadonlySet<string>, weights: ReadonlyMap<string, number>): number {
  const weigh = (names: ReadonlySet<string>): number =>
    [...names].reduce((sum, name) => sum + (weights.get(name) ?? 0), 0);
  const least = Math.min(weigh(a), weigh(b));
  return least === 0 ? 1 : rounded(weigh(new Set([...a].filter((name) => b.has(name)))) / least);
}

/** Sums in another order differ in the last digits, which must decide nothing. */
function rounded(value: number): number {
  return Math.round(value * 1e9) / 1e9;
}

function weightsOf(processes: readonly Footed[]): Map<string, number> {
  const touched = new Map<string, number>();
  for (const { touches } of processes) for (const name of touches) touched.set(name, (touched.get(name) ?? 0) + 1);
  return new Map([...touched].map(([name, count]) => [name, Math.log(processes.length / count)]));
}

function pairsOf<T>(list: readonly T[]): [T, T][] {
  return list.flatMap((left, i) => list.slice(i + 1).map((right): [T, T] => [left, right]));
}

function firstGreatest<T extends { readonly overlap: number }>(pairs: readonly T[]): T | undefined {
  return pairs.reduce<T | undefined>(
    (best, pair) => (best === undefined || pair.overlap > best.overlap ? pair : best),
    undefined,
  );
}

/** The joined group stands where its first process stood. */
function joined(groups: readonly Group[], left: Group, right: Group): readonly Group[] {
  const both = { names: [...left.names, ...right.names], touches: new Set([...left.touches, ...right.touches]) };
  return groups.filter((group) => group !== right).map((group) => (group === left ? both : group));
}

function asMerge({ left, right, overlap }: { left: Group; right: Group; overlap: number }): Merge {
  return { left: left.names, right: right.names, overlap };
}
