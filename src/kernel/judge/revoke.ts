import { z } from 'zod';
import { revokeScope } from '#authority';
import type { Json } from '#base';
import { BUILT_IN_ROLE } from '../domain/built-in-role.ts';
import type { ActionSpec, Binding } from '../domain/domain.ts';
import { compileScope } from '../domain/footprint.ts';
import { frozen } from '../domain/host-code.ts';
import type { Approved, Rejected } from './adjudicate.ts';
import { authorised } from './compile.ts';
import type { Authority, HeldBack } from './compiled.ts';

/** The built-in action that revokes a writ. It needs a writ for `writ:ID`, whose holder stands above the one revoked. */
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
 * Whether a writ is revoked: by what writ, policy and budget say, and by nothing else. No invariant is asked, because the
 * state stays as it is, and may be one that does not pass. Nor does a revocation wait for a person: where it would have to, it is
 * refused, so that a writ is never in doubt.
 */
export function adjudicateRevocation(args: Json, authority: Authority): Approved | Rejected {
  const intent = { action: REVOKE_ACTION, role: BUILT_IN_ROLE, args };
  const compiled = authorised(intent, revokeAction, frozen(args), [], NOTHING, authority);
  if ('reason' in compiled) return { verdict: 'rejected', ...compiled };
  const { heldBack, policy } = compiled;
  const waitsForNobody = ({ reason, detail }: HeldBack): Rejected => ({
    verdict: 'rejected',
    reason: reason === 'policy_needs_approval' ? 'policy_denied' : 'invalid_authority',
    detail: `${detail}, and a revocation waits for nobody`,
    ...(policy === undefined ? {} : { policy }),
  });
  if (heldBack === undefined)
    return {
      verdict: 'approved',
      compiled,
      changes: [],
      patches: () => [],
      judgedBy: () => [],
      keep: () => {},
      undo: () => {},
      holdBack: waitsForNobody,
    };
  return waitsForNobody(heldBack);
}
