import type { Hash } from '#ledger';
import { amendmentPayload } from '../records/entry-payloads.ts';
import { type ApprovalInput, type Ruling, rulingFrom } from '../records/ruling.ts';
import { SaltSource } from '../records/salts.ts';
import { DeclaredCalls } from '../transactions/commit/declared-calls.ts';
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
export async function amend(
  ports: ApprovalPorts,
  pendingId: Hash,
  input: ApprovalInput,
): Promise<Ruling> {
  const { writer, effects } = ports;
  const statements = new ApprovedStatements(ports, {
    pendingId,
    call: input,
    isJudgement: false,
    errors: AMENDED,
  });
  const salts = new SaltSource(writer.context.random);
  const call: ResolutionCall = { pendingId, input, expired: (due) => expirePending(writer, due) };
  let declared: DeclaredCalls | undefined;
  let ruling: Ruling;
  try {
    ruling = await untilResolved(writer, call, async (pending) => {
      const amended = await readAmended(writer, pendingId, pending, input);
      const { writ, intent } = amended;
      declared ??= new DeclaredCalls(writer, effects, {
        ...{ writ, principal: writ.writ.subject, intent, isRepeated: true },
      });
      await declared.open(callsOfAmended(writer, amended));
      const plan = declared.commitPlan;
      return (at) => {
        const decided = decideAmendment(writer, amended, plan, statements, { at, salts });
        if (decided === undefined || 'needs' in decided) return decided;
        const { commit, kept, believed } = decided;
        const resolved = { pendingId, pending, commit, counselor: counselorOf(input, commit) };
        const first = amended.waiting.intent;
        const amendment = () =>
          amendmentPayload(writer.entryTerms(at, kept), resolved, first, plan, believed?.changes);
        const { row, payload, batch } = writer.apply(amendment, {
          change: commit,
          facts: believed,
        });
        const acts = plan?.commitRecords(row.id);
        const blobs = acts === undefined ? kept.blobs : [...kept.blobs, ...acts.blobs];
        return { ...batch, blobs, effects: acts?.write, answer: rulingFrom(row, payload) };
      };
    });
  } catch (error) {
    throw declared === undefined ? error : await declared.abort(error);
  }
  return declared === undefined ? ruling : declared.finish(ruling);
}
