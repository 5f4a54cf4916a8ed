import { z } from 'zod';
import { revokeScope } from '#authority';
import type { Json } from '#base';
import type { Approved, Rejected } from './adjudicate.ts';
import { adjudicateAtOnce, type StopSpec } from './at-once.ts';
import type { Authority } from './compiled.ts';

/**
 * The built-in action that revokes a writ. It needs a writ for `writ:ID`. The holder of that writ
 * must hold an ancestor of the revoked writ.
 */
export const REVOKE_ACTION = 'assize.revoke';

const REVOKE: StopSpec = Object.freeze({
  name: REVOKE_ACTION,
  what: 'a revocation',
  action: Object.freeze({
    process: REVOKE_ACTION,
    args: z.custom<Json>(),
    scopes: (args: Json) => [revokeScope((args as { readonly writ: string }).writ)],
    apply: () => {},
  }),
});

/** Adjudicates a revocation (`adjudicateAtOnce`). A writ is never in doubt. */
export function adjudicateRevocation(args: Json, authority: Authority): Approved | Rejected {
  return adjudicateAtOnce(REVOKE, args, authority);
}
