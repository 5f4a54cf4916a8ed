/**
 * The overlap of processes, and the groups derived from it (seed 000, Procedure 1). Pure of
 * ontologies: names and sets.
 */

/** A process with all that it touches. */
export interface ProcessFootprint {
  readonly name: string;
  readonly touches: ReadonlySet<string>;
}

/** Two groups became one. */
export interface Merge {
  readonly left: readonly string[];
  readonly right: readonly string[];
  /** Their overlap, from 0 to 1. Undefined where a policy joined them. */
  readonly overlap: number | undefined;
}

export interface Clustering {
  /** Each in the order of the processes. */
  readonly groups: readonly (readonly string[])[];
  readonly merges: readonly Merge[];
  /** The pair that came nearest to the threshold without being merged, policy aside. */
  readonly next: Merge | undefined;
  /** Groups with enough overlap that a policy keeps apart. */
  readonly keptSeparate: readonly Merge[];
  /** The weight of each shared component: 0 if every process accesses it. */
  readonly weights: ReadonlyMap<string, number>;
}

export interface Division {
  readonly apart: readonly (readonly [string, string])[];
  readonly together: readonly (readonly [string, string])[];
}

/**
 * A quarter. Below a quarter, most of the slice of the joined role would be new to each of its
 * processes. They would share only common components, such as a count of events. The number is one
 * choice for all domains.
 */
export const OVERLAP_MIN = 0.25;

/**
 * Merges the two groups with the greatest overlap repeatedly, while the overlap reaches the
 * threshold. The weight of a component is ln(processes / processes that access it). The overlap of
 * two processes is the weight of their common components, relative to the smaller footprint. The
 * overlap of two groups is the mean over pairs of their processes, one of each group (average
 * linkage). A process with a large footprint therefore attracts no others by its size alone. Of
 * pairs with equal overlap, the pair with the first processes is merged.
 */
export function cluster(
  processes: readonly ProcessFootprint[],
  division: Division,
  threshold: number = OVERLAP_MIN,
): Clustering {
  const weights = weightsOf(processes);
  const overlaps = overlapsOf(processes, weights);
  const overlap = remembered((a, b) =>
    mean(a.flatMap((one) => b.map((other) => overlaps(one, other)))),
  );
  let groups: readonly Group[] = processes.map(({ name }) => [name]);
  const merges: Merge[] = [];
  for (const [one, other] of division.together) {
    const [left, right] = [
      groups.find((names) => names.includes(one)),
      groups.find((names) => names.includes(other)),
    ];
    if (left === undefined || right === undefined || left === right) continue;
    merges.push({ left, right, overlap: undefined });
    groups = joined(groups, left, right);
  }
  for (;;) {
    const pairs = pairsOf(groups).map(([left, right]) => ({
      left,
      right,
      overlap: overlap(left, right),
    }));
    const free = pairs.filter(({ left, right }) => !isApart(division, left, right));
    const best = firstGreatest(free);
    if (best === undefined || best.overlap < threshold) {
      const apart = pairs.filter((pair) => !free.includes(pair) && pair.overlap >= threshold);
      return { groups, merges, next: best, keptSeparate: apart, weights };
    }
    merges.push(best);
    groups = joined(groups, best.left, best.right);
  }
}

/** Names of processes. */
type Group = readonly string[];

/**
 * Caches overlaps. Groups that were not joined keep their overlap, so each round computes only the
 * new pairs.
 */
function remembered(overlap: (a: Group, b: Group) => number): (a: Group, b: Group) => number {
  const known = new WeakMap<Group, WeakMap<Group, number>>();
  return (a, b) => {
    const row = known.get(a) ?? new WeakMap<Group, number>();
    known.set(a, row);
    const value = row.get(b) ?? overlap(a, b);
    row.set(b, value);
    return value;
  };
}

function isApart({ apart }: Division, left: Group, right: Group): boolean {
  return apart.some(
    ([one, other]) =>
      (left.includes(one) && right.includes(other)) ||
      (left.includes(other) && right.includes(one)),
  );
}

/** The overlap of any two processes, each worked out once. */
function overlapsOf(
  processes: readonly ProcessFootprint[],
  weights: ReadonlyMap<string, number>,
): (one: string, other: string) => number {
  const table = new Map(
    processes.map((a) => [
      a.name,
      new Map(processes.map((b) => [b.name, overlapOf(a.touches, b.touches, weights)])),
    ]),
  );
  return (one, other) => table.get(one)?.get(other) ?? 0;
}

/**
 * The weight of the common components, relative to the smaller footprint. A process that accesses
 * only components of all processes is contained in every process.
 */
function overlapOf(
  a: ReadonlySet<string>,
  b: ReadonlySet<string>,
  weights: ReadonlyMap<string, number>,
): number {
  const weigh = (names: ReadonlySet<string>): number =>
    [...names].reduce((sum, name) => sum + (weights.get(name) ?? 0), 0);
  const least = Math.min(weigh(a), weigh(b));
  return least === 0 ? 1 : weigh(new Set([...a].filter((name) => b.has(name)))) / least;
}

/** Sums in another order differ in the last digits. These must decide nothing. */
function mean(values: readonly number[]): number {
  return Math.round((values.reduce((sum, value) => sum + value, 0) / values.length) * 1e9) / 1e9;
}

function weightsOf(processes: readonly ProcessFootprint[]): Map<string, number> {
  const touched = new Map<string, number>();
  for (const { touches } of processes)
    for (const name of touches) touched.set(name, (touched.get(name) ?? 0) + 1);
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
  return groups
    .filter((group) => group !== right)
    .map((group) => (group === left ? [...left, ...right] : group));
}
