import { isAssizeError } from '#base';
import type { Hash } from '#ledger';
import { amendmentPayload } from '../records/entry-payloads.ts';
import { type ApprovalInput, type Ruling, rulingFrom } from '../records/ruling.ts';
import { SaltSource } from '../records/salts.ts';
import type { CommitPlan } from '../records/tool-authority.ts';
import { proposeCalls } from '../transactions/body/declared-calls.ts';
import { COMMIT_ATTEMPTS_MAX } from '../writer/prepared.ts';
import type { Writer } from '../writer/writer.ts';
import { callsOfAmended, readAmended } from './decide/amended-proposal.ts';
import type { ApprovalPorts } from './decide/approval-ports.ts';
import { AMENDED, ApprovedStatements } from './decide/approved-statements.ts';
import { counselorOf } from './decide/counselor-record.ts';
import { decideAmendment } from './decide/decide-amendment.ts';
import { expirePending } from './pending/expire.ts';
import { type ResolutionCall, untilResolved } from './pending/resolve.ts';

/**
 * Commits a pending proposal with the counselor's arguments. The calls are planned for the amended
 * proposal, as for an action without a transaction body, and again if the state of the ruling
 * declares others. The calls of the first proposal are never made.
 *
 * @throws KernelError `unauthorised_counselor`, `invalid_amendment`, `override_needed`; the errors
 * of `untilResolved`
 */
export async function amend(ports: ApprovalPorts, pendingId: Hash, input: ApprovalInput): Promise<Ruling> {
  const { writer, effects } = ports;
  const statements = new ApprovedStatements(ports, { pendingId, call: input, isJudgement: false, errors: AMENDED });
  for (let tries = 0; tries < COMMIT_ATTEMPTS_MAX; tries++) {
    if (writer.stale) await writer.ready();
    const pending = writer.parts.chain.open.get(pendingId);
    let isRuled = false;
    const rule = (plan?: CommitPlan): Promise<Ruling> => {
      isRuled = true;
      return commitAmended(writer, pendingId, input, plan, statements);
    };
    try {
      const amended = pending && (await readAmended(writer, pendingId, pending, input));
      const calls = amended === undefined ? [] : callsOfAmended(writer, amended);
      if (amended === undefined || calls.length === 0) return await rule();
      const { writ, intent } = amended;
      const proposal = { writ, principal: writ.writ.subject, intent, keyHash: undefined, isApproved: true };
      return await proposeCalls(writer, effects, proposal, calls, rule);
    } catch (error) {
      const isOutdated = isRuled && isAssizeError(error, 'stale');
      // Another process appended first, so the store never gets the pending proposal.
      const isGone = writer.stale && isAssizeError(error, 'blob_missing');
      if (!isOutdated && !isGone) throw error;
    }
  }
  throw await writer.conflictError();
}

/** `plan`: the calls of the amended proposal. */
function commitAmended(
  writer: Writer,
  pendingId: Hash,
  input: ApprovalInput,
  plan: CommitPlan | undefined,
  statements: ApprovedStatements,
): Promise<Ruling> {
  const salts = new SaltSource(writer.context.random);
  const call: ResolutionCall = {
    pendingId,
    input,
    expired: (due) => expirePending(writer, due),
  };
  return untilResolved(writer, call, async (pending) => {
    const amended = await readAmended(writer, pendingId, pending, input);
    return (at) => {
      const decided = decideAmendment(writer, amended, plan, statements, { at, salts });
      if ('needs' in decided) return decided;
      const { commit, kept, believed } = decided;
      const resolved = { pendingId, pending, commit, counselor: counselorOf(input, commit) };
      const { intent } = amended.waiting;
      const amendment = () => amendmentPayload(writer.entryTerms(at, kept), resolved, intent, plan, believed?.changes);
      const { row, payload, batch } = writer.apply(amendment, { change: commit, facts: believed });
      const acts = plan?.commitRecords(row.id);
      const blobs = acts === undefined ? kept.blobs : [...kept.blobs, ...acts.blobs];
      return { ...batch, blobs, effects: acts?.write, answer: rulingFrom(row, payload) };
    };
  });
}
