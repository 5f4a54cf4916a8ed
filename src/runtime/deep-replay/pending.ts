import type { Json } from '#canon';
import { type PatchOperation, patchesOf } from '#kernel';
import { type Entry, type PendingPayload, type ProposalRecord, type Stored, store } from '#ledger';
import { digestOf } from '../records.ts';
import { copied } from './recorded-world.ts';
import { described, isSameRuling, recordedRuling } from './ruled.ts';
import { placeOf, readPatches, readProposal, type Stage } from './stage.ts';

/** What waits for a person: the same proposal must be put up for approval now, with all that an approval would do. */
export async function replayPending(stage: Stage, entry: Entry<PendingPayload>): Promise<void> {
  const before = stage.findings.differenceCount;
  await compare(stage, entry);
  if (stage.findings.differenceCount > before) stage.otherwise.add(entry.id);
}

async function compare(stage: Stage, entry: Entry<PendingPayload>): Promise<void> {
  const { world, findings, authority } = stage;
  const { proposal, policy } = entry.payload;
  const { action, observations, at, writ_id, budget_cost } = proposal;
  const read = await readProposal(stage, entry, { ...action, action: action.name, observations, at });
  if (read === undefined) return;
  findings.compared++;
  const place = placeOf(entry);
  const claim = { place, at, writ_id, ...(policy === undefined ? {} : { policy }) };
  const answers = authority.answers(claim, await authority.writ(writ_id));
  const judged = world.adjudicate(read.intent, answers, read.inputs, true);
  const [recorded, now] = [recordedRuling(entry.payload), described(judged)];
  if (!isSameRuling(recorded, now)) findings.differs(place, 'ruling', recorded, now);
  const made =
    judged.verdict === 'rejected'
      ? world.made(read.intent, read.inputs)
      : {
          cost: judged.compiled.cost,
          patches: judged.verdict === 'escalated' ? judged.patches : copied(patchesOf(judged.changes)),
        };
  if (judged.verdict === 'approved') judged.undo();
  if (made !== undefined) {
    findings.compare(place, 'delta', await readPatches(stage, entry, proposal.delta.state as Stored), made.patches);
    findings.compare(place, 'cost', budget_cost, made.cost);
  }
  if (judged.verdict !== 'escalated') return;
  if (!isSameWords(entry.payload, judged.detail)) findings.reworded++;
  const { channel, freezes, approval } = judged;
  findings.compare(place, 'approval', await readPatches(stage, entry, proposal.approval as Stored), approval);
  findings.compare(place, 'channel', entry.payload.channel, channel);
  findings.compare(place, 'freezes', entry.payload.freezes, freezes);
  const what = {
    ...proposal,
    budget_cost: judged.compiled.cost,
    delta: { ...proposal.delta, state: kept(judged.patches) },
  };
  findings.compare(place, 'digest', entry.payload.digest, digestOf({ ...what, approval: kept(approval) }));
}

/** What a policy says of its reasons is recorded only together with what an invariant says, and comes after it. */
function isSameWords({ policy, detail }: PendingPayload, now: string): boolean {
  return policy?.decision === 'needs_approval' ? detail.startsWith(now) : detail === now;
}

/** As an entry has it: large ones by their hash. */
function kept(patches: readonly PatchOperation[]): ProposalRecord['approval'] {
  return store(patches as unknown as Json, []) as ProposalRecord['approval'];
}
