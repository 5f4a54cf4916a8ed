import type { Json } from '#canon';

/**
 * One RFC 6902 operation with a JSON-pointer path. Only these three, `remove` and `replace` on existing
 * paths, in canonical order, so that two implementations make one id (notes: decisions §1.8).
 */
export type Patch =
  | { readonly op: 'add'; readonly path: string; readonly value: Json }
  | { readonly op: 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string };
