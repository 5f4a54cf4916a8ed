/** Walks through all that can happen, from one state on, however it comes about. */

/** A step that may come next. */
export interface Move<World> {
  readonly what: string;
  readonly to: World;
  /**
   * Whether the step is independent: no other step can change, hinder or see it, and it can do the
   * same to no other step. Steps before it can then run after it with the same result. If such a
   * step exists, the walk explores no other step (a persistent set of one step).
   */
  readonly isPrivate?: boolean;
}

export interface Walked<World> {
  readonly starts: readonly World[];
  /**
   * The parts of a state, without its budget. Two states are one if all their parts have equal
   * texts.
   */
  readonly partsOf: (world: World) => readonly object[];
  /** `numberOf`: the number of a nested part. Parts with equal texts have the same number. */
  readonly textOf: (part: object, numberOf: (part: object) => number) => string;
  /** The number of faults left, by kind. No step raises it. */
  readonly budgetOf: (world: World) => readonly number[];
  /** `way`: the path to the world, for the report of a fault. @throws Broken */
  readonly next: (world: World, way: () => readonly string[]) => readonly Move<World>[];
}

/** A broken rule, with the path to it. */
export class Broken extends Error {
  readonly way: readonly string[];

  constructor(what: string, way: readonly string[]) {
    super(`${what}\n${way.map((step) => `  ${step}`).join('\n')}`);
    this.way = way;
  }
}

/**
 * The number of states. A state that was visited with at least the same budget is not visited
 * again.
 * @throws Broken
 */
export function walk<World>(walked: Walked<World>): number {
  const { starts, budgetOf, next } = walked;
  const keyOf = keys(walked);
  const seen = new Map<string, (readonly number[])[]>();
  const levels: { readonly world: World; readonly key: string; readonly way: Way | undefined }[][] =
    [];
  const add = (world: World, way: Way | undefined): void => {
    const key = keyOf(world);
    const budget = budgetOf(world);
    const budgets = seen.get(key);
    if (budgets?.some((other) => isWithin(budget, other))) return;
    if (budgets === undefined) seen.set(key, [budget]);
    else budgets.push(budget);
    const level = sum(budget);
    levels[level] ??= [];
    levels[level].push({ world, key, way });
  };
  for (const start of starts) add(start, undefined);
  let states = 0;
  // Largest budgets first: a state that they have reached is not visited again with less.
  for (let level = levels.length - 1; level >= 0; level--) {
    for (let at = levels[level]?.pop(); at !== undefined; at = levels[level]?.pop()) {
      const { world, way } = at;
      states++;
      const moves = next(world, () => stepsTo(way));
      const alone = moves.find(({ isPrivate }) => isPrivate === true);
      for (const { what, to } of alone === undefined ? moves : [alone])
        add(to, { what, before: way });
    }
  }
  return states;
}

function isWithin(budget: readonly number[], other: readonly number[]): boolean {
  return budget.every((amount, i) => amount <= other[i]!);
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((all, amount) => all + amount, 0);
}

/**
 * Numbers each part: parts with equal texts have the same number. A step leaves most parts
 * unchanged, and those parts already have a number.
 */
function keys<World>({ partsOf, textOf }: Walked<World>): (world: World) => string {
  const byText = new Map<string, number>();
  const byPart = new WeakMap<object, number>();
  const numberOf = (part: object): number => {
    let n = byPart.get(part);
    if (n !== undefined) return n;
    const text = textOf(part, numberOf);
    n = byText.get(text) ?? byText.size;
    byText.set(text, n);
    byPart.set(part, n);
    return n;
  };
  return (world) => partsOf(world).map(numberOf).join();
}

interface Way {
  readonly what: string;
  readonly before: Way | undefined;
}

function stepsTo(way: Way | undefined): string[] {
  const steps: string[] = [];
  for (let at = way; at !== undefined; at = at.before) steps.unshift(at.what);
  return steps;
}
