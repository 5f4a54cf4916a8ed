import type { MiningCall } from '../run.ts';

type Writable<T> = { -readonly [Member in keyof T]: T[Member] };

/** A call whose ruling or outcome may still change, with the part of its trajectory that is its run. */
export interface Draft {
  readonly call: Writable<MiningCall>;
  /** Absent: the whole trajectory. */
  readonly session?: string;
}
