import type { Json } from '#base';
import type { Domain } from '#kernel';
import { isBlobRef, readRow } from '#ledger';
import { type Ruling, withFindings } from './ruling.ts';

/** A recorded ruling with the proposal that it rules on. */
export interface RuledProposal {
  readonly ruling: Ruling;
  readonly action: string;
  /** The arguments. Undefined if their entry does not hold them in place. */
  readonly args?: Json;
}

/** Finds the misfits of arguments again. Undefined for a ruling without an entry. */
export function ruledProposal(ruling: Ruling, domain: Domain): RuledProposal | undefined {
  if (ruling.ruling === 'frozen') return undefined;
  const { payload } = readRow(ruling.entry);
  if (payload.kind === 'rejection') return proposalIn(ruling, payload.intent.action, payload.intent.args, domain);
  if (payload.kind === 'commit') return proposalIn(ruling, payload.action.name, payload.action.args, domain);
  if (payload.kind !== 'pending_approval') return undefined;
  const { name, args } = payload.proposal.action;
  return proposalIn(ruling, name, args, domain);
}

function proposalIn(ruling: Ruling, action: string, stored: unknown, domain: Domain): RuledProposal {
  if (isBlobRef(stored)) return { ruling, action };
  const args = stored as Json;
  return { ruling: withFindings(ruling, domain, { action, args }), action, args };
}
