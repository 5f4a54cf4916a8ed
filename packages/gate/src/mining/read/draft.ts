import type { MiningCall } from '../run.ts';

type Writable<T> = { -readonly [Member in keyof T]: T[Member] };

/** A call with a ruling and an outcome that may still change, and its session. */
export interface Draft {
  readonly call: Writable<MiningCall>;
  /** Absent: the whole trajectory. */
  readonly session?: string;
}
