import { z } from 'zod';
import { effectScope } from '#authority';
import type { Json } from '#base';
import type { Approved, Rejected } from './adjudicate.ts';
import { adjudicateAtOnce } from './at-once.ts';
import type { Authority } from './compiled.ts';

/**
 * The built-in action that decides about an effect. A writ for it names the action and
 * `effect:TOOL` in every link (`mayResolveEffect`). No entry of its own records it: the decision is
 * part of the effect.
 */
export const RESOLVE_EFFECT_ACTION = 'assize.resolve_effect';

/** Adjudicates the right to decide about an effect of a tool, by a writ (`adjudicateAtOnce`). */
export function adjudicateEffectDecision(args: Json, tool: string, authority: Authority): Approved | Rejected {
  const action = {
    process: RESOLVE_EFFECT_ACTION,
    args: z.custom<Json>(),
    scopes: () => [effectScope(tool)],
    apply: () => {},
  };
  const what = 'a decision about an effect';
  return adjudicateAtOnce({ name: RESOLVE_EFFECT_ACTION, what, action }, args, authority);
}
