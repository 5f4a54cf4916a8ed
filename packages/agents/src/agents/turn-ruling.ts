import { isAssizeError, isInstance } from 'assize/internal/base';
import { KernelError, type PatchOperation } from 'assize/internal/kernel';
import { turnObservationName } from 'assize/internal/oracle';
import type {
  ApprovalInput,
  ProposalInput,
  RuledProposal,
  Ruling,
  Trajectory,
} from 'assize/internal/runtime';
import type { Agent, LastRuling } from './agent.ts';
import type { RecordedDecision } from './decide.ts';
import { type Counsel, portsOf, type RecordedTurn } from './turn.ts';

/** The result of a turn. */
export interface TurnOutcome {
  /** The ruling of the proposal or resolution. Undefined if the turn made none. */
  readonly ruling?: Ruling;
  /** The reason why a counselor's decision was refused. Only the turn was recorded. */
  readonly refused?: Error;
}

/**
 * Proposes an agent's decision with the time, the randomness and the key of its turn, so a repeated
 * turn repeats the proposal. The consulted answers are its observations. The turn is an observation
 * too, so the ledger pins the turn.
 *
 * @throws the errors of `Trajectory.propose`
 */
export async function proposeIn(
  trajectory: Trajectory,
  { role, writ }: Agent,
  decided: RecordedDecision,
  recorded: RecordedTurn,
): Promise<TurnOutcome> {
  const proposal = proposalOf({ role, writ }, decided, recorded);
  if (proposal === undefined) return {};
  const ruling = await trajectory.withTurn(portsOf(recorded.turn), () =>
    trajectory.propose(proposal),
  );
  return { ruling };
}

/** The proposal of a turn. Undefined if the agent proposes nothing. */
export function proposalOf(
  { role, writ }: Pick<Agent, 'role' | 'writ'>,
  { intent, agent, observations }: RecordedDecision,
  { number, key, value }: RecordedTurn,
): ProposalInput | undefined {
  if (intent === undefined) return undefined;
  return {
    ...intent,
    role,
    writ,
    observations: [...observations, { name: turnObservationName(number), value, oracle_key: key }],
    idempotencyKey: turnKeyOf(agent, number),
  };
}

/** The ruling on an agent's proposal, as the agent gets it. Undefined: the proposal was frozen. */
export function toldRuling(ruled: RuledProposal | undefined): LastRuling {
  if (ruled === undefined) return FROZEN;
  const { action, args, ruling } = ruled;
  const proposed = { ruling: ruling.ruling, action, ...(args !== undefined && { args }) };
  if (ruling.ruling === 'committed' || ruling.ruling === 'frozen') return proposed;
  const { reason, detail, invariantId } = ruling;
  const why = {
    ...proposed,
    reason,
    detail,
    ...(invariantId !== undefined && { rule: invariantId }),
  };
  if (ruling.ruling === 'escalated') return { ...why, channel: ruling.channel };
  return { ...why, ...(ruling.findings !== undefined && { findings: ruling.findings }) };
}

/** A frozen proposal leaves no entry, so a resumed run knows no more. */
const FROZEN: LastRuling = Object.freeze({
  ruling: 'frozen',
  detail: 'a pending approval blocked the proposal, and no entry was written',
});

/** The idempotency key of the proposal of a turn. */
export function turnKeyOf(agent: string, turn: number): string {
  return `assize.turn/${agent}/${turn}`;
}

/**
 * Executes a counselor's decision. A refusal is a result, and a repeated turn has the same result.
 *
 * @throws the errors of `Approvals.approve`, except refusals of the counselor
 */
export async function resolveIn(
  trajectory: Trajectory,
  counsel: Counsel,
  recorded: RecordedTurn,
): Promise<TurnOutcome> {
  if (counsel.do === 'later') return {};
  try {
    return {
      ruling: await trajectory.withTurn(portsOf(recorded.turn), () => resolve(trajectory, counsel)),
    };
  } catch (error) {
    if (isRefusal(error)) return { refused: error as Error };
    throw error;
  }
}

function resolve(
  trajectory: Trajectory,
  counsel: Exclude<Counsel, { do: 'later' }>,
): Promise<Ruling> {
  const { pending, digest, principal, method, reason } = counsel;
  const by = { principal, method, digest };
  if (counsel.do === 'reject')
    return trajectory.approvals.reject(pending, { ...by, reason: counsel.reason });
  const { override, replacement, args } = counsel;
  const approval: ApprovalInput = {
    ...by,
    ...(override === undefined ? {} : { override }),
    ...(reason === undefined ? {} : { reason }),
    ...(replacement === undefined
      ? {}
      : { replacement: replacement as unknown as PatchOperation[] }),
    ...(args === undefined ? {} : { args }),
  };
  return trajectory.approvals.approve(pending, approval);
}

function isRefusal(error: unknown): boolean {
  const codes = ['bad_intent', 'not_pending', 'digest_mismatch', 'effect_unresolved'];
  return isInstance(error, KernelError) || codes.some((code) => isAssizeError(error, code));
}
