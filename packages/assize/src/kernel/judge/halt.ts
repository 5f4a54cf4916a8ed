import { z } from 'zod';
import { haltScope } from '#authority';
import type { Json } from '#base';
import type { Approved, Rejected } from './adjudicate.ts';
import { adjudicateAtOnce } from './at-once.ts';
import type { Authority } from './compiled.ts';

/**
 * The built-in action that halts a trajectory and resumes it. It needs a writ for
 * `halt:TRAJECTORY`, in which every link names the action and such a scope (`mayHalt`).
 */
export const HALT_ACTION = 'assize.halt';

/** Adjudicates a halt or a resume of a trajectory (`adjudicateAtOnce`). */
export function adjudicateHalt(args: Json, trajectoryId: string, authority: Authority): Approved | Rejected {
  const action = {
    process: HALT_ACTION,
    args: z.custom<Json>(),
    scopes: () => [haltScope(trajectoryId)],
    apply: () => {},
  };
  return adjudicateAtOnce({ name: HALT_ACTION, what: 'a halt', action }, args, authority);
}
