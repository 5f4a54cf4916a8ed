import type { Stored } from './hash.ts';

/**
 * One RFC 6902 operation with a JSON Pointer path. The kernel writes only these three operations,
 * with `remove` and `replace` on existing paths, in canonical order. Two implementations therefore
 * produce the same id (docs/decisions/002-ids-digests-patches.md). In a list stored in the entry, a
 * value may be a reference. In a list stored as a blob, values are in place.
 */
export type Patch =
  | { readonly op: 'add'; readonly path: string; readonly value: Stored }
  | { readonly op: 'replace'; readonly path: string; readonly value: Stored }
  | { readonly op: 'remove'; readonly path: string };
