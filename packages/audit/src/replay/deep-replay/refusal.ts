import type { Ruling } from 'assize/internal/kernel';
import {
  type Entry,
  ERASE_ACTION,
  HALT_ACTION,
  type PendingPayload,
  REVOKE_ACTION,
  type RejectionPayload,
  UPGRADE_ACTION,
} from 'assize/internal/ledger';
import { replayConflict } from './approval.ts';
import { compareCounselor } from './counselor.ts';
import type { RecordedClaim } from './recorded-authority.ts';
import type { TakenAsRecorded } from './report.ts';
import { placeOf, type RerunContext, readProposal } from './rerun-context.ts';
import { described, isSameRuling, recordedRuling } from './ruled.ts';

/**
 * Replays a refusal: the same proposal must be refused for the same reason now, and by the same
 * invariant if one refused it.
 */
export async function replayRefusal(
  stage: RerunContext,
  entry: Entry<RejectionPayload>,
  pending: PendingPayload | undefined,
): Promise<void> {
  const { world, findings, authority } = stage;
  const { intent, reason, at, writ_id, policy } = entry.payload;
  if (pending !== undefined) return replayDecision(stage, entry, pending);
  if (OF_NO_DOMAIN.has(reason)) return findings.takeAsRecorded('other');
  // Its values may have been erased by another erasure since.
  if (intent.action === ERASE_ACTION) return findings.takeAsRecorded('erased');
  // An agent that proposes this action by name proposes an unknown action. A revocation or
  // halt is refused by writ or policy.
  if (STOPS.has(intent.action) && reason !== 'unknown_tool')
    return findings.takeAsRecorded(reason === 'policy_denied' ? 'policy' : 'writ');
  if (intent.action === UPGRADE_ACTION && reason !== 'unknown_tool')
    return findings.takeAsRecorded('upgrade');
  const proposal = await readProposal(stage, entry, { ...intent, at });
  if (proposal === undefined) return;
  findings.compared++;
  const refused = refusedByAuthority(entry.payload);
  // A policy's refusal is counted where the policy answers.
  if (refused !== undefined && refused.by !== 'policy') findings.takeAsRecorded(refused.by);
  const claim: RecordedClaim = {
    place: placeOf(entry),
    at,
    ...(writ_id === undefined ? {} : { writ_id }),
    ...(policy === undefined ? {} : { policy }),
    ...(refused === undefined ? {} : { refused }),
  };
  const answers = authority.answers(claim, await authority.writ(writ_id));
  const judged = world.adjudicate(proposal.intent, answers, proposal.inputs, false);
  if (judged.verdict === 'approved') judged.undo();
  const [recorded, now] = [recordedRuling(entry.payload), described(judged)];
  if (isRefusedByBeliefs(entry.payload, judged)) findings.takeAsRecorded('beliefs');
  else if (!isSameRuling(recorded, now)) {
    if (world.isWithout({ name: intent.action, role: intent.role }))
      findings.takeAsRecorded('erased');
    else findings.differs(claim.place, 'ruling', recorded, now);
  } else if (recorded['detail'] !== now['detail']) findings.reworded++;
}

/**
 * Everything else passes: the statements did not fit the facts, and facts are not planned again.
 */
export function isRefusedByBeliefs({ reason }: RejectionPayload, judged: Ruling): boolean {
  return (
    reason === 'precondition_failed' &&
    judged.verdict === 'approved' &&
    judged.compiled.statements.length > 0
  );
}

const STOPS: ReadonlySet<string> = new Set([REVOKE_ACTION, HALT_ACTION]);

/** Reasons that come from effects and from other writers. */
export const OF_NO_DOMAIN: ReadonlySet<RejectionPayload['reason']> = new Set([
  'effect_failed',
  'conflict',
]);

function decisionOf(reason: RejectionPayload['reason']): TakenAsRecorded {
  if (reason === 'expired') return 'expired';
  return reason === 'upgraded' ? 'upgrade' : 'counselor_rejected';
}

/** Replays a human decision or an expiry. The domain decides whether the counselor was allowed. */
async function replayDecision(
  stage: RerunContext,
  entry: Entry<RejectionPayload>,
  pending: PendingPayload,
): Promise<void> {
  const { reason, counselor } = entry.payload;
  if (reason === 'conflict') return replayConflict(stage, entry, pending);
  stage.findings.takeAsRecorded(decisionOf(reason));
  if (counselor !== undefined) await compareCounselor(stage, entry, pending, counselor);
}

/**
 * The authority that refused, for refusals that no domain decides. An exceeded footprint has the
 * same reason as a writ that does not grant. So the kernel's own wording distinguishes them.
 */
export function refusedByAuthority({
  reason,
  detail,
  intent,
}: RejectionPayload): RecordedClaim['refused'] {
  if (reason === 'policy_denied') return { by: 'policy', detail };
  if (reason === 'budget_exhausted') return { by: 'budget', detail };
  if (reason !== 'invalid_authority') return undefined;
  const { action, role } = intent;
  const byDomain =
    detail.startsWith(`${action} may not change /`) ||
    detail.startsWith(`${action}: /`) ||
    (detail.startsWith(`the role ${role.name} does not perform `) &&
      detail.endsWith(`, to which ${action} belongs`));
  // Its writ allows the action, if only with approval, so the policy is asked after it.
  const byWaiting =
    STOPS.has(action) && /, and a (revocation|halt) cannot wait for an approval$/.test(detail);
  return byDomain || byWaiting ? undefined : { by: 'writ', detail };
}
