import { isAssizeError } from '#base';
import type { ProposedCall } from '#kernel';
import type { Instant } from '#ledger';
import type { GatheredProposal } from '../records/intent.ts';
import { type Judgement, judgementOf, refusedBy } from '../records/judgement.ts';
import { SaltSource } from '../records/salts.ts';
import type { CommitPlan } from '../records/tool-authority.ts';
import { planOnly } from '../transactions/body/plan-only.ts';
import { requireTools } from '../transactions/body/run-transaction.ts';
import { DEADLINE_MS } from '../transactions/body/transaction-options.ts';
import { COMMIT_ATTEMPTS_MAX } from '../writer/prepared.ts';
import { type RulingStep, untilCommitted } from '../writer/until-committed.ts';
import { callsNow } from './decide/calls-now.ts';
import { decideProposal, type RulingOptions } from './decide/decide-proposal.ts';
import { checkQueue } from './decide/full-queue.ts';
import { type ForeseenProposal, gatherForeseen } from './decide/gathered-proposal.ts';
import type { ProposalPorts } from './decide/proposal-ports.ts';

/**
 * The ruling that a proposal would get now, and the change that it would record. Nothing is
 * written, and no tool is called. A proposal before an expired approval is recorded counts it as
 * ended.
 */
export async function judgeProposal(ports: ProposalPorts, input: ForeseenProposal): Promise<Judgement> {
  const gathered = await gatherForeseen(ports, input);
  return judgeGathered(ports, gathered, 'completely', (step) => untilCommitted(ports.writer, () => step));
}

/**
 * The same on the memory of the writer, which never moves. Statements are not compared with facts.
 */
export async function judgeProposalHere(ports: ProposalPorts, input: ForeseenProposal): Promise<Judgement> {
  const gathered = await gatherForeseen(ports, input);
  return judgeGathered(ports, gathered, 'stateOnly', async (step) => {
    for (;;) {
      const ruled = step();
      if (ruled !== undefined && 'unrecorded' in ruled) return ruled.unrecorded;
      if (ruled !== undefined && 'needs' in ruled) await ruled.needs();
    }
  });
}

async function judgeGathered(
  ports: ProposalPorts,
  gathered: GatheredProposal,
  foreseen: RulingOptions['foreseen'],
  run: (step: RulingStep<Judgement>) => Promise<Judgement>,
): Promise<Judgement> {
  const { writer } = ports;
  for (let tries = 0; tries < COMMIT_ATTEMPTS_MAX; tries++) {
    while (writer.busy !== undefined) await writer.busy;
    if (writer.stale) await writer.ready();
    try {
      const calls = callsNow(writer, gathered);
      const commitPlan = calls.length === 0 ? undefined : await planOf(ports, gathered.intent.action, calls);
      return await run(judgingStep(ports, { ...gathered, commitPlan }, foreseen));
    } catch (error) {
      if (!isAssizeError(error, 'stale') || error.retryable !== true)
        return refusedBy(error, writer.parts.domain, undefined);
    }
  }
  throw await writer.conflictError();
}

/** The declared calls. Nothing is claimed or written for them. */
function planOf(
  { writer, effects }: ProposalPorts,
  action: string,
  calls: readonly ProposedCall[],
): Promise<CommitPlan> {
  return planOnly(requireTools(effects), calls, writer.parts.domain, action, AbortSignal.timeout(DEADLINE_MS));
}

function judgingStep(
  ports: ProposalPorts,
  gathered: GatheredProposal,
  foreseen: RulingOptions['foreseen'],
): RulingStep<Judgement> {
  const { writer, expiries } = ports;
  const salts = new SaltSource(writer.context.random);
  let assertedAt: Instant | undefined;
  const judged = (): ReturnType<RulingStep<Judgement>> => {
    const decided = decideProposal(ports, gathered, { salts, foreseen, assertedAt });
    if ('needs' in decided)
      return {
        needs: async () => {
          const said = await decided.needs();
          assertedAt ??= said;
        },
      };
    if ('unrecorded' in decided) return { unrecorded: decided.unrecorded as Extract<Judgement, { ruling: 'frozen' }> };
    const { judged } = decided;
    // A proposal that is recorded comes after the expired ones, which make room.
    if (judged.verdict === 'escalated' && !expiries.hasExpired()) checkQueue(ports, gathered.writ);
    const answer = judgementOf(judged, gathered.commitPlan, writer.parts.domain, gathered.intent);
    if (judged.verdict === 'approved') judged.undo();
    return { unrecorded: answer };
  };
  return () => {
    const { busy } = writer;
    if (busy !== undefined) return { needs: () => busy };
    return writer.runRuling(judged);
  };
}
