import type { Json } from '#base';

/** One change, at a path of keys. `appends`: a new last element of a list. */
export interface Change {
  readonly op: 'add' | 'replace' | 'remove';
  readonly keys: readonly string[];
  /** The path of the container. Consecutive changes in one container share the same list object. */
  readonly parent: readonly string[];
  /** Absent for `remove`. Shared with the state: read the value in the same turn. */
  readonly value: Json | undefined;
  readonly appends: boolean;
}
