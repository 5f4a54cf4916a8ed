import { isAssizeError, isInstance } from 'assize/internal/base';
import type { Domain } from 'assize/internal/kernel';
import {
  approvalsOf,
  type EntryRow,
  type Hash,
  isEffectPending,
  LedgerFault,
  type LedgerStore,
  type PendingPayload,
  pendingEffectOf,
  readRow,
  ValueReader,
} from 'assize/internal/ledger';
import { type Assize, Trajectory } from 'assize/internal/runtime';
import {
  type DomainActions,
  pendingParts,
  pendingView,
  proposedIn,
  shownOf,
} from 'assize/internal/views';
import { type Card, cardOf } from './card.ts';
import { undoOf } from './undo-of.ts';

export interface CardPorts {
  readonly assize: Pick<Assize, 'open'>;
  readonly store: LedgerStore;
  /** The words of actions, by trajectory. */
  readonly actions: Pick<DomainActions, 'of'>;
}

/**
 * The card of a pending proposal for receivers of notices. Of the arguments it has those alone that
 * the presentation of the action names, and none that are stored apart.
 */
export async function noticeCard(
  { assize, store, actions }: CardPorts,
  row: EntryRow,
): Promise<Card> {
  const payload = readRow(row).payload as PendingPayload;
  const trajectory = await readableIn(assize, row.trajectory_id);
  const words = await actions.of(row.trajectory_id);
  const view = await viewOf(store, row, payload, words);
  const { called } = view.shown;
  const asked = proposedIn(payload);
  const shown =
    asked === undefined
      ? { called, title: called, fields: [] }
      : shownOf(asked, words[asked.name]?.present, 'named');
  const requester = requesterOf(trajectory, payload.proposal.writ_id);
  const undo = undoOf(view, trajectory);
  return cardOf({ ...view, shown }, { requester, undo, mayDecide: false });
}

/** With what the entry alone has, where the store lacks a value of the proposal. */
async function viewOf(
  store: LedgerStore,
  row: EntryRow,
  payload: PendingPayload,
  words: Domain['actions'],
): Promise<Parameters<typeof cardOf>[0]> {
  try {
    const parts = await pendingParts(store, new ValueReader(store), { id: row.id, payload });
    return await pendingView(store, parts, words);
  } catch (error) {
    if (!isInstance(error, LedgerFault)) throw error;
    const { proposal, invariant_id, expires, ...rest } = payload;
    const { needed: approvals, given: approved_by } = approvalsOf(payload);
    const { name, role } = proposal.action;
    return {
      ...{ ...rest, id: row.id, of: isEffectPending(payload) ? 'effect' : 'proposal' },
      ...{ action: { name, role }, shown: shownOf({ name }), tools: [], changes: null },
      ...{ approvals, approved_by, ...(expires && { expires }) },
      ...(invariant_id && { invariant_id }),
      ...(isEffectPending(payload) && { effect: pendingEffectOf(payload) }),
    };
  }
}

/** The trajectory, or undefined if it does not verify or its domain is another. */
export function readableIn(
  assize: Pick<Assize, 'open'>,
  trajectoryId: string,
): Promise<Trajectory | undefined> {
  return assize.open(trajectoryId).catch((error: unknown) => {
    const isUnreadable = ['invalid_ledger', 'domain_mismatch'].some((code) =>
      isAssizeError(error, code),
    );
    if (!isUnreadable) throw error;
    return undefined;
  });
}

/** The holder of the writ of a proposal. Empty for an unknown one. */
export function requesterOf(trajectory: Trajectory | undefined, writId: Hash): string {
  return (trajectory && Trajectory.writOf(trajectory, writId)?.writ.subject) ?? '';
}
