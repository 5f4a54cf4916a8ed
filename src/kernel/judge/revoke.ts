import { z } from 'zod';
import { revokeScope } from '#authority';
import type { Json } from '#base';
import { BUILT_IN_ROLE } from '../domain/built-in-role.ts';
import type { ActionSpec, Binding } from '../domain/domain.ts';
import { compileScope } from '../domain/footprint.ts';
import { frozen } from '../domain/host-code.ts';
import type { Approved, Rejected } from './adjudicate.ts';
import { authorised } from './compile.ts';
import type { ApprovalDemand, Authority, Compiled } from './compiled.ts';

/**
 * The built-in action that revokes a writ. It needs a writ for `writ:ID`. The holder of that writ
 * must hold an ancestor of the revoked writ.
 */
export const REVOKE_ACTION = 'assize.revoke';

const revokeAction: ActionSpec = Object.freeze({
  process: REVOKE_ACTION,
  args: z.custom<Json>(),
  scopes: (args: Json) => [revokeScope((args as { readonly writ: string }).writ)],
  apply: () => {},
});

const NOTHING: Binding = Object.freeze({
  reads: [],
  writes: [],
  scope: compileScope([]),
  closure: [],
  closureScope: compileScope([]),
});

/**
 * Adjudicates a revocation by writ, policy and budget alone. The state stays unchanged, so no
 * invariant is checked, and a failing one does not block the revocation. A revocation never becomes
 * pending: if it would need approval, it is refused. So a writ is never in doubt.
 */
export function adjudicateRevocation(args: Json, authority: Authority): Approved | Rejected {
  const intent = { action: REVOKE_ACTION, role: BUILT_IN_ROLE, args };
  const compiled = authorised(intent, revokeAction, frozen(args), [], NOTHING, authority, {});
  if ('reason' in compiled) return { verdict: 'rejected', ...compiled };
  const { approvalDemand } = compiled;
  if (approvalDemand !== undefined) return neverWaits(compiled, approvalDemand, 'a revocation');
  return {
    verdict: 'approved',
    compiled,
    changes: [],
    patches: () => [],
    checkedAgainst: () => [],
    keep: () => {},
    undo: () => {},
    // No state is changed, and no waiting proposal delays a revocation.
    heldBy: () => undefined,
    requireApproval: (held) => neverWaits(compiled, held, 'a revocation'),
  };
}

/** The refusal of a built-in action that would need an approval. */
export function neverWaits({ policy }: Compiled, { reason, detail }: ApprovalDemand, what: string): Rejected {
  return {
    verdict: 'rejected',
    reason: reason === 'policy_needs_approval' ? 'policy_denied' : 'invalid_authority',
    detail: `${detail}, and ${what} waits for nobody`,
    ...(policy === undefined ? {} : { policy }),
  };
}
