import { z } from 'zod';
import { effectScope, haltScope, revokeScope } from '#authority';
import { deepFreeze, type Json } from '#base';
import { NO_PLACES } from '../domain/bindings.ts';
import { BUILT_IN_ROLE } from '../domain/built-in-role.ts';
import type { ActionSpec } from '../domain/domain.ts';
import type { Approved, Rejected } from './adjudicate.ts';
import { authorised } from './compile.ts';
import type { ApprovalDemand, Authority, Compiled } from './compiled.ts';

/** An action that stops authority or work. */
export interface StopSpec {
  readonly name: string;
  /** As the subject of a sentence: `a revocation`. */
  readonly what: string;
  readonly action: ActionSpec;
}

/**
 * Adjudicates a stop by writ, policy and budget alone. The state stays unchanged, so no invariant
 * is checked, and a failing one does not block the stop. A stop never becomes pending: if it would
 * need approval, it is refused. So a stop is never in doubt.
 */
export function adjudicateAtOnce(
  { name, what, action }: StopSpec,
  args: Json,
  authority: Authority,
): Approved | Rejected {
  const intent = { action: name, role: BUILT_IN_ROLE, args };
  const compiled = authorised(
    intent,
    { action, args: deepFreeze(args), binding: NO_PLACES },
    authority,
  );
  if ('reason' in compiled) return { verdict: 'rejected', ...compiled };
  const { approvalDemand } = compiled;
  if (approvalDemand !== undefined) return neverWaits(compiled, approvalDemand, what);
  return {
    verdict: 'approved',
    compiled,
    changes: [],
    patches: () => [],
    checkedAgainst: () => [],
    keep: () => {},
    undo: () => {},
    // No state is changed, and no waiting proposal delays a stop.
    heldBy: () => undefined,
    requireApproval: (held) => neverWaits(compiled, held, what),
  };
}

/** The refusal of a built-in action that would need an approval. */
export function neverWaits(
  { policy }: Compiled,
  { reason, detail }: ApprovalDemand,
  what: string,
): Rejected {
  return {
    verdict: 'rejected',
    reason: reason === 'policy_needs_approval' ? 'policy_denied' : 'invalid_authority',
    detail: `${detail}, and ${what} cannot wait for an approval`,
    ...(policy === undefined ? {} : { policy }),
  };
}

/**
 * The built-in action that halts a trajectory and resumes it. It needs a writ for
 * `halt:TRAJECTORY`, in which every link names the action and such a scope (`mayHalt`).
 */
export const HALT_ACTION = 'assize.halt';

/** Adjudicates a halt or a resume of a trajectory (`adjudicateAtOnce`). */
export function adjudicateHalt(
  args: Json,
  trajectoryId: string,
  authority: Authority,
): Approved | Rejected {
  const action = {
    process: HALT_ACTION,
    args: z.custom<Json>(),
    scopes: () => [haltScope(trajectoryId)],
    apply: () => {},
  };
  return adjudicateAtOnce({ name: HALT_ACTION, what: 'a halt', action }, args, authority);
}

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

/**
 * The built-in action that decides about an effect. A writ for it names the action and
 * `effect:TOOL` in every link (`mayResolveEffect`). No entry of its own records it: the decision is
 * part of the effect.
 */
export const RESOLVE_EFFECT_ACTION = 'assize.resolve_effect';

/** Adjudicates the right to decide about an effect of a tool, by a writ (`adjudicateAtOnce`). */
export function adjudicateEffectDecision(
  args: Json,
  tool: string,
  authority: Authority,
): Approved | Rejected {
  const action = {
    process: RESOLVE_EFFECT_ACTION,
    args: z.custom<Json>(),
    scopes: () => [effectScope(tool)],
    apply: () => {},
  };
  const what = 'a decision about an effect';
  return adjudicateAtOnce({ name: RESOLVE_EFFECT_ACTION, what, action }, args, authority);
}
