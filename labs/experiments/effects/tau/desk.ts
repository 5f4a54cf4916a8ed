import type { Json } from 'assize/internal/base';
import { canonicalize } from 'assize/internal/canon';
import type { z } from 'zod';
import type { ChangedRecords } from '../../../../examples/domains/tau/index.ts';
import type { Layers } from './layer.ts';

/** Arguments of a call, as its schema has read them. */
export type Args = any;

/** One tool of a benchmark: the service's implementation and the declaration for callers. */
export interface DeskTool {
  readonly input: z.ZodType;
  /** `look`: changes nothing. `free`: its effect can be compensated. `final`: it cannot. */
  readonly sort: 'look' | 'free' | 'final';
  /** Resources by the input, below `api:NAME:`. */
  readonly reads?: (args: Args) => readonly string[];
  readonly writes?: (args: Args) => readonly string[];
  /**
   * Answers the call and applies its change to the database.
   * @throws Error in the benchmark's words; the call then has no effect
   */
  readonly serve: (layers: Layers, args: Args) => Json;
}

/** A benchmark's service: its initial database and its operations. The service has no policy. */
export interface Desk {
  readonly name: string;
  readonly begin: Layers;
  readonly tools: { readonly [name: string]: DeskTool };
  /** Every record that is not as it was, by collection, as the benchmark's files have it. */
  changed(layers: Layers): ChangedRecords;
}

/** Compares records with their earlier values. Returns the records that differ, by id. */
export function differing(
  rows: readonly (readonly [id: string, now: unknown, before: unknown])[],
): {
  readonly [id: string]: unknown;
} {
  return Object.fromEntries(
    rows.filter(([, now, before]) => !same(now, before)).map(([id, now]) => [id, now ?? null]),
  );
}

/** Collections with a difference. */
export function notEmpty(changed: ChangedRecords): ChangedRecords {
  return Object.fromEntries(
    Object.entries(changed).filter(([, records]) => Object.keys(records).length > 0),
  );
}

/** Whether two records, or none, are the same. */
export function same(one: unknown, other: unknown): boolean {
  return canonicalize((one ?? null) as Json) === canonicalize((other ?? null) as Json);
}

/** A copy of the current value. Later changes of the value do not affect the copy. */
export function copyOf(value: unknown): Json {
  return structuredClone(value) as Json;
}
