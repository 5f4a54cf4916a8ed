import { deepFreeze, type Json } from '#base';
import { BUILT_IN_ROLE } from '../domain/built-in-role.ts';
import type { ActionSpec, Binding } from '../domain/domain.ts';
import { compileScope } from '../domain/footprint.ts';
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

const NOTHING: Binding = Object.freeze({
  reads: [],
  writes: [],
  scope: compileScope([]),
  closure: [],
  closureScope: compileScope([]),
});

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
  const compiled = authorised(intent, { action, args: deepFreeze(args), binding: NOTHING }, authority);
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
export function neverWaits({ policy }: Compiled, { reason, detail }: ApprovalDemand, what: string): Rejected {
  return {
    verdict: 'rejected',
    reason: reason === 'policy_needs_approval' ? 'policy_denied' : 'invalid_authority',
    detail: `${detail}, and ${what} cannot wait for an approval`,
    ...(policy === undefined ? {} : { policy }),
  };
}
