import { isAssizeError } from '#base';
import {
  amendingKind,
  type Intent,
  type PendingProposal,
  type ProposedCall,
  plannedCalls,
} from '#kernel';
import type { Hash, PendingPayload } from '#ledger';
import { holdersOf, type WritChain } from '../../authority/writs.ts';
import { parseIntent } from '../../records/intent.ts';
import { readPendingProposal } from '../../records/pending-proposal.ts';
import type { ApprovalInput } from '../../records/ruling.ts';
import type { Writer } from '../../writer/writer.ts';

/** A pending proposal with its amended intent, read before its decision. */
export interface AmendedProposal {
  readonly pendingId: Hash;
  readonly pending: PendingPayload;
  readonly input: ApprovalInput;
  readonly writ: WritChain;
  /** The proposal as it was submitted, with its values, from the ledger. */
  readonly waiting: PendingProposal;
  readonly intent: Intent;
  /** Whether the arguments are the recorded ones, and only the role is amended. */
  readonly parsed: boolean;
}

/** @throws RuntimeError `bad_intent`, `observation_missing`, `erased`; LedgerFault */
export async function readAmended(
  writer: Writer,
  pendingId: Hash,
  pending: PendingPayload,
  input: ApprovalInput,
): Promise<AmendedProposal> {
  const { parts, context } = writer;
  const { args, role } = input;
  const writ = parts.writs.present(pending.proposal.writ_id);
  const waiting = await writer.readValues(() =>
    readPendingProposal(pending, holdersOf(writ), context),
  );
  const first = waiting.intent;
  const asked = { action: first.action, role: role ?? first.role, args: args ?? first.args };
  const intent = parseIntent(asked, parts.domain);
  return { pendingId, pending, input, writ, waiting, intent, parsed: args === undefined };
}

/** The calls of the amended action on the current state. None if the ruling will refuse it. */
export function callsOfAmended(
  writer: Writer,
  { input, waiting, writ, intent, parsed }: AmendedProposal,
): readonly ProposedCall[] {
  const { world } = writer.parts;
  const plan = (): readonly ProposedCall[] => {
    try {
      amendingKind(world, waiting, { principal: input.principal, at: writer.now() });
    } catch (error) {
      if (isAssizeError(error)) return [];
      throw error;
    }
    const authority = writer.authority(writ, writ.writ.subject, writer.now());
    return plannedCalls(world, intent, authority, waiting.inputs, { parsed });
  };
  return writer.runRuling(plan);
}
