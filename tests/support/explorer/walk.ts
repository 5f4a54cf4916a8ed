/** Walks through all that can happen, from one state on, however it comes about. */

/** A step that may come next. */
export interface Move<World> {
  readonly what: string;
  readonly to: World;
  /**
   * That nothing else can change, hinder or see it, and it nothing else: whatever is done before it may be done after it just as well. So
   * where there is such a step no other one is looked at (a persistent set of one step).
   */
  readonly isPrivate?: boolean;
}

export interface Walked<World> {
  readonly starts: readonly World[];
  /** What a state is made of, without its budget: two states are one where all these say the same. */
  readonly partsOf: (world: World) => readonly object[];
  /** `numberOf`: of what a part is made of in turn, the same number where that says the same. */
  readonly textOf: (part: object, numberOf: (part: object) => number) => string;
  /** How much of each kind may go wrong yet. No step makes it more. */
  readonly budgetOf: (world: World) => readonly number[];
  /** `way`: how it came there, for who finds a fault. @throws Broken */
  readonly next: (world: World, way: () => readonly string[]) => readonly Move<World>[];
}

/** A rule was broken: what, and the way there. */
export class Broken extends Error {
  readonly way: readonly string[];

  constructor(what: string, way: readonly string[]) {
    super(`${what}\n${way.map((step) => `  ${step}`).join('\n')}`);
    this.way = way;
  }
}

/** How many states there are. A state that was seen with at least as much that may go wrong is not looked at again. @throws Broken */
export function walk<World>(walked: Walked<World>): number {
  const { starts, budgetOf, next } = walked;
  const keyOf = keys(walked);
  const seen = new Map<string, (readonly number[])[]>();
  const levels: { readonly world: World; readonly key: string; readonly way: Way | undefined }[][] = [];
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
  // Those with most that may go wrong first: what they have seen need not be seen again with less.
  for (let level = levels.length - 1; level >= 0; level--) {
    for (let at = levels[level]?.pop(); at !== undefined; at = levels[level]?.pop()) {
      const { world, way } = at;
      states++;
      const moves = next(world, () => stepsTo(way));
      const alone = moves.find(({ isPrivate }) => isPrivate === true);
      for (const { what, to } of alone === undefined ? moves : [alone]) add(to, { what, before: way });
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

/** Each part by a number: the same where they say the same. A step leaves most of a state as it is, and that has its number already. */
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
