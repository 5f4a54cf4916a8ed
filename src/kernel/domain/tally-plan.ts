import type { Pattern } from './footprint.ts';
import type { Keys } from './keys.ts';

/** An index as a rule declares it. */
export interface TallyPlan {
  /** What a check finds it under. */
  readonly name: string;
  /** The very same for rules over one collection. */
  readonly path: Pattern;
  /** What tells groups apart, nothing that changes with the state; undefined: the member is in none. */
  readonly by: (member: unknown, keys: Keys) => unknown;
  /** The name of a group; undefined for what is none. */
  readonly group: (by: unknown) => string | undefined;
  /** What it adds to the sum of its group; undefined: there are no sums. */
  readonly amount: ((member: unknown, keys: Keys) => number) | undefined;
  /** Whether it has to be known who is in a group. */
  readonly named: boolean;
}
