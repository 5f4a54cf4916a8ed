import { arg, checkArgument } from '#base';
import type { Hash } from '#ledger';
import { Expiries } from '../approve/pending/expire.ts';
import type { TrajectoryContext } from '../context.ts';
import type { Judgement } from '../records/judgement.ts';
import { TurnScopedPorts } from '../writer/turn-ports.ts';
import { Writer } from '../writer/writer.ts';
import type { ForeseenProposal } from './decide/gathered-proposal.ts';
import { judgeProposalHere } from './judge.ts';

/**
 * The ruling that a proposal would have had after an entry: with the state, the writs, the open
 * approvals and the domain of that time. The clock shows the time of the entry. Nothing is written:
 * the memory is made for this call, and no other caller uses it.
 *
 * @throws RuntimeError `not_found`, `domain_mismatch`, `invalid_ledger`, `unknown_writ`, `bad_writ`
 */
export async function judgeAt(
  context: TrajectoryContext,
  trajectoryId: string,
  entryId: Hash,
  input: ForeseenProposal,
): Promise<Judgement> {
  checkArgument(arg.text, entryId, 'at');
  const parts = await context.partsAt(trajectoryId, entryId);
  const { chain } = parts;
  const clock = { now: () => chain.at };
  const turn = new TurnScopedPorts(trajectoryId, clock, context.random, () => chain.head as Hash);
  const then = { ...context, clock, reservedFor: () => [], saltGenerator: turn.saltGenerator };
  const writer = new Writer(trajectoryId, parts, then);
  const ports = { writer, beliefs: undefined, effects: context.effects, expiries: new Expiries(writer), turn };
  return judgeProposalHere(ports, input);
}
