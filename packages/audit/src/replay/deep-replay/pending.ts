import { isAssizeError, type Json } from 'assize/internal/base';
import { addMicros } from 'assize/internal/canon';
import type { PatchOperation } from 'assize/internal/kernel';
import {
  approvalsOf,
  type Entry,
  ERASE_ACTION,
  type PendingPayload,
  type ProposalRecord,
  store,
} from 'assize/internal/ledger';
import { digestOf } from 'assize/internal/runtime';
import { heldWithTools } from './recorded-authority.ts';
import { copied } from './recorded-world.ts';
import { type Findings, isSame } from './report.ts';
import { placeOf, type RerunContext, readPatches, readProposal } from './rerun-context.ts';
import { costWithTools, described, isSameRuling, recordedRuling } from './ruled.ts';

/**
 * Replays a pending proposal: the same proposal must be submitted for approval now, with all
 * effects of an approval.
 */
export async function replayPending(
  stage: RerunContext,
  entry: Entry<PendingPayload>,
): Promise<void> {
  const before = stage.findings.differenceCount;
  const recorded = await readRecorded(stage, entry);
  if (recorded === undefined) stage.findings.takeAsRecorded('erased');
  else await compare(stage, entry, recorded);
  if (
    stage.findings.differenceCount > before &&
    stage.world.isWithout(entry.payload.proposal.action)
  )
    stage.findings.takeDifferencesAsRecorded(before);
  if (stage.findings.differenceCount > before) stage.otherwise.add(entry.id);
}

/** The recorded changes, as operations of the kernel. */
interface Recorded {
  readonly delta: readonly PatchOperation[];
  readonly approval: readonly PatchOperation[];
}

/** Undefined if a part was erased, or for an erasure: it is not run again. @throws LedgerFault */
async function readRecorded(
  stage: RerunContext,
  entry: Entry<PendingPayload>,
): Promise<Recorded | undefined> {
  const { action, delta, approval } = entry.payload.proposal;
  if (action.name === ERASE_ACTION) return undefined;
  try {
    return {
      delta: await readPatches(stage, entry, delta.state),
      approval: await readPatches(stage, entry, approval),
    };
  } catch (error) {
    if (isAssizeError(error, 'erased')) return undefined;
    throw error;
  }
}

async function compare(
  stage: RerunContext,
  entry: Entry<PendingPayload>,
  before: Recorded,
): Promise<void> {
  const { world, findings, authority } = stage;
  const { proposal, policy } = entry.payload;
  const { action, observations, at, writ_id, budget_cost, delta } = proposal;
  const asked = { ...action, action: action.name, observations, at, effects: delta.effects };
  const read = await readProposal(stage, entry, asked);
  if (read === undefined) return;
  findings.compared++;
  const place = placeOf(entry);
  const claim = {
    place,
    at,
    writ_id,
    ...(policy === undefined ? {} : { policy }),
    ...heldWithTools(entry.payload),
  };
  const answers = authority.answers(claim, await authority.writ(writ_id));
  const judged = world.adjudicate(read.intent, answers, read.inputs, true);
  const [recorded, now] = [recordedRuling(entry.payload), described(judged)];
  if (!isSameRuling(recorded, now)) findings.differs(place, 'ruling', recorded, now);
  const made =
    judged.verdict === 'rejected'
      ? world.made(read.intent, read.inputs)
      : {
          cost: judged.compiled.cost,
          patches: judged.verdict === 'escalated' ? judged.patches : copied(judged.patches()),
        };
  if (judged.verdict === 'approved') judged.undo();
  if (made !== undefined) {
    findings.compare(place, 'delta', before.delta, made.patches);
    findings.compare(place, 'cost', budget_cost, costWithTools(made.cost, proposal));
  }
  if (judged.verdict !== 'escalated') return;
  if (!isSameWords(entry.payload, judged.detail)) findings.reworded++;
  const { channel, deputies, approvals, freezes, approval, timeoutMs } = judged;
  findings.compare(place, 'approval', before.approval, approval);
  findings.compare(place, 'channel', entry.payload.channel, channel);
  findings.compare(place, 'deputies', entry.payload.deputies ?? [], deputies);
  compareEnd(findings, entry, timeoutMs);
  findings.compare(place, 'approvals', approvalsOf(entry.payload).needed, approvals);
  findings.compare(place, 'freezes', entry.payload.freezes, freezes);
  const what = {
    ...proposal,
    budget_cost: costWithTools(judged.compiled.cost, proposal),
    // The same operations with other salts are the same.
    delta: isSame(before.delta, judged.patches)
      ? proposal.delta
      : { ...proposal.delta, state: storedAs(judged.patches) },
    approval: isSame(before.approval, approval) ? proposal.approval : storedAs(approval),
  };
  findings.compare(place, 'digest', entry.payload.digest, digestOf(what));
}

/** The deployment may end it earlier than the domain says, and never later. */
function compareEnd(findings: Findings, entry: Entry<PendingPayload>, timeoutMs: number): void {
  if (timeoutMs === Number.POSITIVE_INFINITY) return;
  const { expires = null, proposal } = entry.payload;
  const latest = addMicros(proposal.at, timeoutMs * 1_000);
  if (expires === null || expires > latest)
    findings.differs(placeOf(entry), 'expires', expires, latest);
}

/** The policy's reasons are recorded only together with an invariant's detail, and after it. */
function isSameWords({ policy, detail }: PendingPayload, now: string): boolean {
  if (policy?.decision === 'needs_approval' && detail.startsWith(now)) return true;
  // A tool's reason for the approval is taken from the record, where it follows a rule's detail.
  return now.endsWith(detail) && detail.startsWith(now.slice(0, now.length - detail.length));
}

/** As an entry has them: large operations by their hash. */
function storedAs(patches: readonly PatchOperation[]): ProposalRecord['approval'] {
  return store(patches as unknown as Json, []) as ProposalRecord['approval'];
}
