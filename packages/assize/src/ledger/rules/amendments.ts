import { canonicalize } from '#canon';
import type { AmendmentRecord, CommitPayload, PendingPayload } from '../entry/entry.ts';
import { approvalsOf } from './approvals.ts';

/** Prefix of the names of built-in actions. */
const BUILT_IN = 'assize.';

/**
 * The reason why a commit does not amend the pending proposal (`commit.amended`). An amended commit
 * has the pending action, and commits the same action with other arguments or another role. It
 * makes none of the pending calls. Undefined if it amends.
 */
export function amendmentFault(
  { action, delta, amended }: CommitPayload & { readonly amended: AmendmentRecord },
  pending: PendingPayload,
): string | undefined {
  const { proposal } = pending;
  const first = canonicalize(proposal.action);
  if (canonicalize(amended.action) !== first)
    return 'the amended action differs from the pending one';
  if (action.name !== proposal.action.name)
    return 'an amendment cannot change the name of the action';
  if (action.name.startsWith(BUILT_IN)) return 'a built-in action cannot be amended';
  if (canonicalize(action) === first) return 'the amendment changes neither arguments nor role';
  if (approvalsOf(pending).needed > 1)
    return 'a proposal that needs several approvals cannot be amended';
  const dropped = new Set(proposal.delta.effects.map(({ id }) => id));
  if (delta.effects.some(({ id }) => dropped.has(id)))
    return 'it has an effect of the pending proposal';
  return undefined;
}
