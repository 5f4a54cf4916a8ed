import type { Stored } from './hash.ts';

/**
 * One RFC 6902 operation with a JSON-pointer path. Only these three, `remove` and `replace` on existing
 * paths, in canonical order, so that two implementations make one id (notes: decisions §1.8). In a list that stands in
 * the entry a value may be a reference; in one that is a blob itself values stand as they are.
 */
export type Patch =
  | { readonly op: 'add'; readonly path: string; readonly value: Stored }
  | { readonly op: 'replace'; readonly path: string; readonly value: Stored }
  | { readonly op: 'remove'; readonly path: string };
