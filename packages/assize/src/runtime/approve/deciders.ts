import { isAssizeError } from '#base';
import { counselorKind } from '#kernel';
import { approvalsOf, isSamePrincipal, type PendingPayload, principalsOf } from '#ledger';
import { holdersOf } from '../authority/writs.ts';
import { readSeenProposal, requestersOf } from '../records/pending-proposal.ts';
import type { Writer } from '../writer/writer.ts';

/** The requester of a pending proposal, and principals that may decide about it. */
export interface Deciders {
  readonly requester: string;
  readonly deciders: readonly string[];
}

/** The requester of a pending proposal, and those of the principals that may decide about it. */
export async function decidersAmong(
  writer: Writer,
  pending: PendingPayload,
  principals: readonly string[],
): Promise<Deciders> {
  const { parts, context } = writer;
  const { proposal, channel, deputies } = pending;
  const requesters = requestersOf(proposal, holdersOf(parts.writs.present(proposal.writ_id)));
  const seen = await writer.readValues(() => readSeenProposal(pending, context.replayer));
  const at = writer.now();
  const given = approvalsOf(pending).given.flatMap(principalsOf);
  const may = (principal: string): boolean => {
    if (given.some((one) => isSamePrincipal(one, principal))) return false;
    try {
      counselorKind(parts.domain, channel, principal, requesters, seen, { deputies, at });
      return true;
    } catch (error) {
      if (isAssizeError(error, 'unauthorised_counselor')) return false;
      throw error;
    }
  };
  return { requester: requesters[0] ?? '', deciders: principals.filter(may) };
}
