import type { Pattern } from './footprint.ts';
import type { Keys } from './keys.ts';

/** An index as a rule declares it. */
export interface AggregatePlan {
  /** The name under which a check reads the index. */
  readonly name: string;
  /** The path of the collection. Rules over one collection share the same object. */
  readonly path: Pattern;
  /**
   * The value that tells groups apart. It must not change with the state. A member with `undefined`
   * is in no group.
   */
  readonly by: (member: unknown, keys: Keys) => unknown;
  /** The name of a group. Undefined for a value that is not a group. */
  readonly group: (by: unknown) => string | undefined;
  /** The number that a member adds to its group's sum. Undefined: there are no sums. */
  readonly amount: ((member: unknown, keys: Keys) => number) | undefined;
  /** Whether the members of a group must be known. */
  readonly named: boolean;
}
