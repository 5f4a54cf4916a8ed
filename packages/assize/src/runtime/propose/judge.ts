import { arg, checkArgument } from '#base';
import type { ProposedCall } from '#kernel';
import type { Hash, Instant } from '#ledger';
import { Expiries } from '../approve/pending/expire.ts';
import type { TrajectoryContext } from '../context.ts';
import type { GatheredProposal } from '../records/intent.ts';
import { type Judgement, judgementOf, refusedBy } from '../records/judgement.ts';
import { SaltSource } from '../records/salts.ts';
import type { CommitPlan } from '../records/tool-authority.ts';
import { DEADLINE_MS } from '../transactions/body/transaction-options.ts';
import { planOnly } from '../transactions/commit/plan-only.ts';
import { requireTools } from '../transactions/commit/run-transaction.ts';
import { TurnScopedPorts } from '../writer/turn-ports.ts';
import { type RulingStep, untilCommitted, whenFree } from '../writer/until-committed.ts';
import { Writer } from '../writer/writer.ts';
import { callsNow } from './calls-now.ts';
import { type ForeseenProposal, gatherForeseen } from './gather.ts';
import type { ProposalPorts } from './ports.ts';
import { checkQueue, decideProposal, outdatedCalls, type RulingOptions } from './rule.ts';

/**
 * The ruling that a proposal would get now, and the change that it would record. Nothing is
 * written, and no tool is called. A proposal before an expired approval is recorded counts it as
 * ended.
 */
export async function judgeProposal(
  ports: ProposalPorts,
  input: ForeseenProposal,
): Promise<Judgement> {
  const gathered = await gatherForeseen(ports, input);
  const judging = untilCommitted(ports.writer, () => planJudgement(ports, gathered, 'completely'));
  return judging.catch((error) => refusedBy(error, ports.writer.parts.domain, undefined));
}

/**
 * The same on the memory of the writer. That memory never moves. Statements are not compared with
 * facts.
 */
export async function judgeProposalHere(
  ports: ProposalPorts,
  input: ForeseenProposal,
): Promise<Judgement> {
  const gathered = await gatherForeseen(ports, input);
  try {
    const step = await planJudgement(ports, gathered, 'stateOnly');
    for (;;) {
      const ruled = step();
      if (ruled === undefined) throw outdatedCalls('the action declares other calls each time');
      if ('unrecorded' in ruled) return ruled.unrecorded;
      if ('needs' in ruled) await ruled.needs();
    }
  } catch (error) {
    return refusedBy(error, ports.writer.parts.domain, undefined);
  }
}

async function planJudgement(
  ports: ProposalPorts,
  gathered: GatheredProposal,
  foreseen: RulingOptions['foreseen'],
): Promise<RulingStep<Judgement>> {
  const { writer } = ports;
  while (writer.busy !== undefined) await writer.busy;
  const calls = callsNow(writer, gathered);
  const commitPlan =
    calls.length === 0 ? undefined : await planOf(ports, gathered.intent.action, calls);
  return judgingStep(ports, { ...gathered, commitPlan }, foreseen);
}

/** The declared calls. Nothing is claimed or written for them. */
function planOf(
  { writer, effects }: ProposalPorts,
  action: string,
  calls: readonly ProposedCall[],
): Promise<CommitPlan> {
  return planOnly(
    requireTools(effects),
    calls,
    writer.parts.domain,
    action,
    AbortSignal.timeout(DEADLINE_MS),
  );
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
    if (decided === undefined) return undefined;
    if ('needs' in decided)
      return {
        needs: async () => {
          const said = await decided.needs();
          assertedAt ??= said;
        },
      };
    if ('unrecorded' in decided)
      return { unrecorded: decided.unrecorded as Extract<Judgement, { ruling: 'frozen' }> };
    const { judged } = decided;
    // A proposal that is recorded comes after the expired ones, because they make room.
    if (judged.verdict === 'escalated' && !expiries.hasExpired()) checkQueue(ports, gathered.writ);
    const answer = judgementOf(judged, gathered.commitPlan, writer.parts.domain, gathered.intent);
    if (judged.verdict === 'approved') judged.undo();
    return { unrecorded: answer };
  };
  return whenFree(writer, judged);
}

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
  const ports = {
    writer,
    beliefs: undefined,
    effects: context.effects,
    expiries: new Expiries(writer),
    turn,
  };
  return judgeProposalHere(ports, input);
}
