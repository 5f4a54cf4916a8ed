import type { Observation } from '#ledger';
import { verified, type WritChain } from '../../authority/writs.ts';
import {
  checkProposal,
  type GatheredProposal,
  type ProposalInput,
  type ReadProposal,
  readProposal,
  underWrit,
} from '../../records/intent.ts';
import { checkObserved } from '../../records/pending-proposal.ts';
import type { Writer } from '../../writer/writer.ts';
import type { ProposalPorts } from './proposal-ports.ts';

/** A proposal without the terms of its submission. */
export type ForeseenProposal = Omit<ProposalInput, 'idempotencyKey' | 'precondition'>;

/** The maker of a proposal: a caller, a transaction or the runtime itself. */
interface Submission {
  readonly nonce: string;
  /** Whether the runtime makes it, and may use reserved names. Default: false. */
  readonly isOwn?: boolean;
  /** Whether the body of a transaction has read the observations. Default: false. */
  readonly isRead?: boolean;
}

/** The checked proposal, in the turn that is under way. @throws RuntimeError `bad_intent` */
export function readSubmission(
  { writer, turn }: Pick<ProposalPorts, 'writer' | 'turn'>,
  input: ProposalInput,
  { nonce, isOwn = false, isRead = false }: Submission,
): ReadProposal {
  const { unsalted, isTurn } = turn;
  const { id: trajectoryId, parts } = writer;
  return readProposal(input, { domain: parts.domain, trajectoryId, nonce, unsalted, isOwn, isRead, isTurn });
}

/** @throws RuntimeError `unknown_writ`, `bad_writ` */
export function presentWrit(writer: Writer, given: ProposalInput['writ']): WritChain {
  const { parts, context } = writer;
  const writ = parts.writs.present(given);
  // An intent under a writ that leads to no anchor has no requester, and leaves no entry
  // (docs/decisions/003-what-writes-an-entry.md).
  verified(context.verifier, writ, parts.writs.delegated);
  return writ;
}

/** Observations that name an answer of the oracle log, which must have it. */
export function observedByKey({ observations }: GatheredProposal): readonly Observation[] {
  return observations.map(({ unsalted }) => unsalted).filter(({ oracle_key }) => oracle_key !== undefined);
}

/** A proposal that is only judged, so it has no key. */
export async function gatherForeseen(ports: ProposalPorts, input: ForeseenProposal): Promise<GatheredProposal> {
  checkProposal(input);
  const { writer } = ports;
  const gathered = underWrit(readSubmission(ports, input, { nonce: '' }), presentWrit(writer, input.writ), undefined);
  const byKey = observedByKey(gathered);
  if (byKey.length > 0) await checkObserved(byKey, writer.context.oracle);
  return gathered;
}
