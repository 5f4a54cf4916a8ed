import type { Json } from 'assize/internal/base';
import { canonicalize } from 'assize/internal/canon';
import type { ChangedRecords } from 'assize-domains/tau';
import type { z } from 'zod';
import type { Layers } from './layer.ts';

/** Arguments of a call, as its schema has read them. */
export type Args = any;

/** One tool of a benchmark, as its service does it, and as it is declared to who uses it. */
export interface DeskTool {
  readonly input: z.ZodType;
  /** `look`: changes nothing. `free`: what it does can be taken back. `final`: it can't be. */
  readonly sort: 'look' | 'free' | 'final';
  /** Resources by the input, below `api:NAME:`. */
  readonly reads?: (args: Args) => readonly string[];
  readonly writes?: (args: Args) => readonly string[];
  /** Answers, and changes the database where it is to. @throws Error in the benchmark's words; nothing counts then */
  readonly serve: (layers: Layers, args: Args) => Json;
}

/** A benchmark's service: its database to begin with, and what it can be asked to do. It has no policy. */
export interface Desk {
  readonly name: string;
  readonly begin: Layers;
  readonly tools: { readonly [name: string]: DeskTool };
  /** Every record that is not as it was, by collection, as the benchmark's files have it. */
  changed(layers: Layers): ChangedRecords;
}

/** Records with what stood there before; those that differ, by id. */
export function differing(rows: readonly (readonly [id: string, now: unknown, before: unknown])[]): {
  readonly [id: string]: unknown;
} {
  return Object.fromEntries(rows.filter(([, now, before]) => !same(now, before)).map(([id, now]) => [id, now ?? null]));
}

/** Collections of which something differs. */
export function notEmpty(changed: ChangedRecords): ChangedRecords {
  return Object.fromEntries(Object.entries(changed).filter(([, records]) => Object.keys(records).length > 0));
}

/** Whether two records, or none, are the same. */
export function same(one: unknown, other: unknown): boolean {
  return canonicalize((one ?? null) as Json) === canonicalize((other ?? null) as Json);
}

/** As it is now, whatever is done to it afterwards. */
export function copyOf(value: unknown): Json {
  return structuredClone(value) as Json;
}
