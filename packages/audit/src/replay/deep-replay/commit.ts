import type { Inputs, Intent, PatchOperation, Ruling } from 'assize/internal/kernel';
import { type CommitPayload, type Entry, isHalt, isRevocation } from 'assize/internal/ledger';
import { copied } from './recorded-world.ts';
import { isSame } from './report.ts';
import {
  followErased,
  followRecord,
  isErasing,
  placeOf,
  type RerunContext,
  readPatches,
  readProposal,
} from './rerun-context.ts';
import { costWithTools, described } from './ruled.ts';

/**
 * Replays a commit that needed no approval: the same proposal must be approved now, at the same
 * cost, with the same changes.
 */
export async function replayCommit(
  stage: RerunContext,
  entry: Entry<CommitPayload>,
): Promise<void> {
  const { world, findings, authority } = stage;
  const { action, observations, at, writ_id, policy, delta } = entry.payload;
  // Writs decide on a revocation and on a halt, and both change no state.
  if (isRevocation(entry.payload) || isHalt(entry.payload)) return findings.takeAsRecorded('writ');
  if (await isErasing(stage, entry)) return followErased(stage, entry);
  const patches = await readPatches(stage, entry, delta.state);
  const proposal = await readProposal(stage, entry, {
    ...action,
    action: action.name,
    observations,
    at,
    effects: delta.effects,
  });
  if (proposal === undefined) return followRecord(stage, entry, patches);
  findings.compared++;
  const place = placeOf(entry);
  const claim = { place, at, writ_id, ...(policy === undefined ? {} : { policy }) };
  // A committed proposal needed no approval by its writ. The writ is read only for a policy that is
  // asked again.
  const writ = authority.asks(claim) ? await authority.writ(writ_id) : undefined;
  const answers = authority.answers(claim, writ);
  const judged = world.adjudicate(proposal.intent, answers, proposal.inputs, true);
  if (judged.verdict === 'approved' && isAsRecorded(entry.payload, patches, judged)) {
    findings.breaks(place, world.keep(judged, patches));
    return;
  }
  explain(stage, entry, patches, proposal, judged);
  followRecord(stage, entry, patches);
}

function isAsRecorded(
  payload: CommitPayload,
  patches: readonly PatchOperation[],
  judged: Extract<Ruling, { verdict: 'approved' }>,
): boolean {
  const cost = costWithTools(judged.compiled.cost, payload);
  return isSame(judged.patches(), patches) && isSame(cost, payload.budget_cost);
}

/** Notes all differences, and leaves the state as it was before. */
function explain(
  { world, findings }: RerunContext,
  entry: Entry<CommitPayload>,
  patches: readonly PatchOperation[],
  { intent, inputs }: { intent: Intent; inputs: Inputs },
  judged: Ruling,
): void {
  const place = placeOf(entry);
  // The first result: an impure action may return another one the second time.
  const made =
    judged.verdict === 'approved'
      ? { cost: judged.compiled.cost, patches: copied(judged.patches()) }
      : undefined;
  if (judged.verdict === 'approved') judged.undo();
  if (world.isWithout(entry.payload.action)) {
    findings.takeAsRecorded('erased');
    return;
  }
  if (judged.verdict !== 'approved')
    findings.differs(place, 'ruling', { ruling: 'committed' }, described(judged));
  const { cost, patches: now } = made ?? world.made(intent, inputs) ?? {};
  if (cost !== undefined) {
    const { payload } = entry;
    findings.compare(place, 'cost', payload.budget_cost, costWithTools(cost, payload));
  }
  if (now !== undefined) findings.compare(place, 'delta', patches, now);
}
