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
  type PendingEffectArgs,
  type PendingPayload,
  pendingEffectOf,
  type RejectionPayload,
  SETTLE_ACTION,
  type SettlementArgs,
  type Stored,
} from '#ledger';
import { COMPILER_VERSION, digestOf, type EntryPosition } from '../../records/entry-payloads.ts';

// The ledger entries about effects; their forms are in `ledger/settlement.ts`.

/** An unresolved effect, as its pending entry names it. */
export interface PendingEffect extends PendingEffectArgs {
  readonly id: Hash;
  readonly payload: BlobRef;
  readonly reason: 'in_doubt' | 'unresolved';
  readonly writId: Hash;
  /** The cost of its compensation. Set if the tool compensated the effect. */
  readonly undoCost?: Amounts;
  /** The code of the refused `onFailure` proposal. Set for effects that wait for that proposal. */
  readonly refused?: string;
  /** The tool's code for why the effect is unresolved, if it gave one. */
  readonly why?: string;
}

/** An operator's decision on an effect. */
export interface EffectDecision {
  readonly as: DecidedAs;
  readonly by: string;
  readonly tokenBy: readonly string[];
  readonly evidence: BlobRef;
  readonly undoCost?: Amounts | undefined;
  /** Whether the effect may still be compensated, so that the decision does not settle it. */
  readonly isOpen: boolean;
}

/** The payload of an entry that settles effects of commits, under the writ of the first commit. */
export function settlementPayload(
  place: EntryPosition,
  parentCommit: Hash,
  writId: Hash,
  args: SettlementArgs,
  found: readonly Observation[],
): CommitPayload {
  const proposalId = contentHash({
    action: SETTLE_ACTION,
    nonce: place.parent,
    trajectory: place.trajectory_id,
  });
  return settling(place, parentCommit, { args, found, proposalId, writId });
}

/**
 * The payload of an entry that records a decision on an unresolved effect and resolves its pending
 * entry.
 */
export function decisionPayload(
  place: EntryPosition,
  parentCommit: Hash,
  [pendingId, pending]: readonly [Hash, EffectPendingPayload],
  { as, by, tokenBy, evidence, undoCost, isOpen }: EffectDecision,
): CommitPayload {
  const { id, commit } = pendingEffectOf(pending);
  const outcome = outcomeOf(as);
  const cost = outcome === 'undone' && undoCost !== undefined ? { cost: undoCost } : {};
  const settled =
    commit === undefined || outcome === undefined || isOpen
      ? []
      : [{ commit, effects: [{ ...cost, id, outcome }] }];
  const { proposal_id: proposalId, writ_id: writId } = pending.proposal;
  const args: SettlementArgs = {
    decided: { as, by, id, ...(tokenBy.length > 0 && { token_by: tokenBy }) },
    settled,
  };
  const found = [{ name: id, value: evidence }];
  return {
    ...settling(place, parentCommit, { args, found, proposalId, writId }),
    resolves: pendingId,
  };
}

/** Fields in canonical order: it serialises fastest. */
function settling(
  place: EntryPosition,
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

/**
 * The payload of a pending entry of an unresolved effect. It freezes no part of the state, because
 * the effect log blocks the effect's scopes.
 */
export function effectPendingPayload(place: EntryPosition, left: PendingEffect): PendingPayload {
  const { epoch, n, tool, commit, id, payload, writId } = left;
  const args: PendingEffectArgs = { epoch, n, tool, ...(commit === undefined ? {} : { commit }) };
  const named = {
    action: SETTLE_ACTION,
    args: { ...args },
    nonce: place.parent,
    trajectory: place.trajectory_id,
  };
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
    detail: `${tool}, effect ${n} of transaction ${epoch}: ${pendingDetail(left)}`,
    freezes: [],
    head: place.parent as Hash,
  };
}

function pendingDetail({ reason, refused, why }: PendingEffect): string {
  if (refused !== undefined)
    return `the effect failed permanently, the others are compensated, and its onFailure proposal was refused (${refused})`;
  const what =
    reason === 'in_doubt' ? 'its outcome is unknown' : 'it was refused permanently, or too often';
  return why === undefined ? what : `${what} (${why})`;
}

/**
 * The payload of an entry about an aborted attempt without a ruling, and its compensated effects.
 * It contains no text except names and a code.
 */
export function abandonmentPayload(
  place: EntryPosition,
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
