import type { Entry, Hash } from 'assize/internal/ledger';

/** An entry as an example of a figure. `note` may contain text of a model: escape it. */
export interface Example {
  readonly id: Hash;
  readonly trajectory_id: string;
  readonly seq: number;
  readonly at: string;
  readonly note?: string;
}

/** A number of entries, and the first of them in the order of the log. */
export interface Tally {
  readonly count: number;
  readonly examples: readonly Example[];
}

export const EXAMPLES_MAX = 5;
const NOTHING: Tally = { count: 0, examples: [] };

export function exampleOf({ id, trajectory_id, seq, payload }: Entry, note?: string): Example {
  return { id, trajectory_id, seq, at: payload.at, ...(note !== undefined && { note }) };
}

/** Counts by name, each with at most `EXAMPLES_MAX` examples. */
export class Tallies<Name extends string> {
  readonly #counts: Map<Name, { count: number; readonly examples: Example[] }> = new Map();

  add(name: Name, entry: Entry, note?: string): void {
    const tally = this.#counts.get(name) ?? { count: 0, examples: [] };
    this.#counts.set(name, tally);
    tally.count++;
    if (tally.examples.length < EXAMPLES_MAX) tally.examples.push(exampleOf(entry, note));
  }

  of(name: Name): Tally {
    return this.#counts.get(name) ?? NOTHING;
  }
}

/** The sum of tallies, with the first examples of all. */
export function sumOf(...tallies: readonly Tally[]): Tally {
  const examples = tallies.flatMap((tally) => tally.examples).sort(byTime);
  return {
    count: tallies.reduce((sum, { count }) => sum + count, 0),
    examples: [...new Map(examples.map((example) => [example.id, example])).values()].slice(
      0,
      EXAMPLES_MAX,
    ),
  };
}

function byTime(one: Example, other: Example): number {
  return one.at < other.at ? -1 : one.at > other.at ? 1 : one.id < other.id ? -1 : 1;
}
