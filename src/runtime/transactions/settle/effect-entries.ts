import { contentHash } from '#canon';
import { BUILT_IN_ROLE } from '#kernel';
import {
  type AbandonedArgs,
  type Amounts,
  type BlobRef,
  type CommitPayload,
  type DecidedAs,
  type EffectPendingPayload,
  type Hash,
  type Observation,
  OPERATOR,
  outcomeOf,
  type PendingPayload,
  type RejectionPayload,
  SETTLE_ACTION,
  type SettlementArgs,
  type Stored,
  type WaitingEffect,
  waitingEffectOf,
} from '#ledger';
import { COMPILER_VERSION, digestOf, type Place } from '../../records/entry-payloads.ts';

// What the ledger says of effects: its forms are in `ledger/settlement.ts`.

/** An effect that waits for a person, as its pending names it. */
export interface EffectLeft extends WaitingEffect {
  readonly id: Hash;
  readonly payload: BlobRef;
  readonly reason: 'in_doubt' | 'unresolved';
  readonly writId: Hash;
  /** What undoing it has cost, if it is not there: its tool was told to undo it. */
  readonly undoCost?: Amounts;
  /** Why what was to be committed for its failure was refused, as a code: of one that waits for that. */
  readonly refused?: string;
  /** Why it was left, as a code, where its tool has said one. */
  readonly why?: string;
}

/** What a person decided about it. */
export interface EffectDecision {
  readonly as: DecidedAs;
  readonly by: string;
  readonly evidence: BlobRef;
  readonly undoCost?: Amounts | undefined;
  /** It may yet be undone, so that it is not settled by that. */
  readonly isOpen: boolean;
}

/** That effects of commits have ended, all under the writ of the first of these commits. */
export function settlementPayload(
  place: Place,
  parentCommit: Hash,
  writId: Hash,
  args: SettlementArgs,
  found: readonly Observation[],
): CommitPayload {
  const proposalId = contentHash({ action: SETTLE_ACTION, nonce: place.parent, trajectory: place.trajectory_id });
  return settling(place, parentCommit, { args, found, proposalId, writId });
}

/** What was decided about an effect that waits, which resolves its pending. */
export function decisionPayload(
  place: Place,
  parentCommit: Hash,
  [pendingId, pending]: readonly [Hash, EffectPendingPayload],
  { as, by, evidence, undoCost, isOpen }: EffectDecision,
): CommitPayload {
  const { id, commit } = waitingEffectOf(pending);
  const outcome = outcomeOf(as);
  const cost = outcome === 'undone' && undoCost !== undefined ? { cost: undoCost } : {};
  const settled =
    commit === undefined || outcome === undefined || isOpen ? [] : [{ commit, effects: [{ ...cost, id, outcome }] }];
  const { proposal_id: proposalId, writ_id: writId } = pending.proposal;
  const args: SettlementArgs = { decided: { as, by, id }, settled };
  const found = [{ name: id, value: evidence }];
  return { ...settling(place, parentCommit, { args, found, proposalId, writId }), resolves: pendingId };
}

/** Its members stand in canonical order, because so they are written fastest. */
function settling(
  place: Place,
  parentCommit: Hash,
  said: {
    readonly args: SettlementArgs;
    readonly found: readonly Observation[];
    readonly proposalId: Hash;
    readonly writId: Hash;
  },
): CommitPayload {
  return {
    action: { args: said.args as unknown as Stored, name: SETTLE_ACTION, role: BUILT_IN_ROLE },
    at: place.at,
    budget_cost: {},
    compiler_version: COMPILER_VERSION,
    delta: { beliefs: [], effects: [], state: [] },
    kind: 'commit',
    observations: said.found,
    parent: place.parent,
    parent_commit: parentCommit,
    proposal_id: said.proposalId,
    seq: place.seq,
    trajectory_id: place.trajectory_id,
    writ_id: said.writId,
  };
}

/** That an effect waits: nothing of the state is frozen for it, as the effect log keeps others from what it touches. */
export function effectPendingPayload(place: Place, left: EffectLeft): PendingPayload {
  const { epoch, n, tool, commit, id, payload, writId } = left;
  const args: WaitingEffect = { epoch, n, tool, ...(commit === undefined ? {} : { commit }) };
  const named = { action: SETTLE_ACTION, args: { ...args }, nonce: place.parent, trajectory: place.trajectory_id };
  const proposal = {
    proposal_id: contentHash(named),
    writ_id: writId,
    action: { name: SETTLE_ACTION, role: BUILT_IN_ROLE, args: { ...args } },
    observations: [],
    at: place.at,
    delta: { beliefs: [], effects: [{ effect: payload, id }], state: [] },
    approval: [],
    budget_cost: {},
  };
  return {
    kind: 'pending_approval',
    ...place,
    proposal,
    digest: digestOf(proposal),
    channel: OPERATOR,
    reason: left.reason,
    detail: `${tool}, effect ${n} of transaction ${epoch}: ${whyLeft(left)}`,
    freezes: [],
    head: place.parent as Hash,
  };
}

function whyLeft({ reason, refused, why }: EffectLeft): string {
  if (refused !== undefined)
    return `it has failed for good, all else is undone, and what its action does then was refused (${refused})`;
  const what = reason === 'in_doubt' ? 'nobody can tell what became of it' : 'it was refused for good, or too often';
  return why === undefined ? what : `${what} (${why})`;
}

/** What an attempt did that came to no ruling, and that it is undone: no text of it but names and a code. */
export function abandonmentPayload(
  place: Place,
  writId: Hash,
  args: AbandonedArgs,
  payloads: readonly BlobRef[],
): RejectionPayload {
  const { cause, effects } = args;
  return {
    kind: 'rejection',
    ...place,
    writ_id: writId,
    intent: {
      action: SETTLE_ACTION,
      role: BUILT_IN_ROLE,
      args: args as unknown as Stored,
      observations: effects.map(({ id }, i) => ({ name: id, value: payloads[i] as BlobRef })),
    },
    reason: 'effect_failed',
    detail: cause,
  };
}
