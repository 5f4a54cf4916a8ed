import { isAssizeError } from '#base';
import { EffectError } from '#effects';
import {
  amendingKind,
  amendPending,
  type CounselorCommit,
  calledByBody,
  type InputCall,
  type Intent,
  type PendingProposal,
  type ProposedCall,
  plannedCalls,
  refusedAmendment,
} from '#kernel';
import type { CounselorRecord, Hash, Instant, PendingPayload } from '#ledger';
import { holdersOf } from '../authority/holders.ts';
import type { WritChain } from '../authority/writs.ts';
import { RuntimeError } from '../errors.ts';
import type { PlannedBeliefs } from '../memory/plan/plan-beliefs.ts';
import { amendmentPayload } from '../records/entry-payloads.ts';
import { parseIntent } from '../records/intent.ts';
import type { Judgement } from '../records/judgement.ts';
import type { Needs } from '../records/needs.ts';
import { PayloadBlobs } from '../records/payload-blobs.ts';
import { readPendingProposal } from '../records/pending-proposal.ts';
import { type ApprovalInput, type Ruling, rulingFrom } from '../records/ruling.ts';
import { SaltSource } from '../records/salt-source.ts';
import { type CommitPlan, checkBufferedTools, hasToolObservation, withTools } from '../records/tool-authority.ts';
import { proposeCalls } from '../transactions/body/declared-calls.ts';
import { planOnly } from '../transactions/body/plan-only.ts';
import { requireTools } from '../transactions/body/run-transaction.ts';
import { DEADLINE_MS } from '../transactions/body/transaction-options.ts';
import type { TransactionEngines } from '../transactions/engine/engines.ts';
import { checkOthers, checkReservations, frozenByRules, frozenFor } from '../writer/freeze.ts';
import { COMMIT_ATTEMPTS_MAX, type PreparedCommit } from '../writer/prepared.ts';
import type { Unrecorded } from '../writer/until-committed.ts';
import type { Writer } from '../writer/writer.ts';
import { approvalJudgement } from './approval-judgement.ts';
import { approvalRun } from './approval-run.ts';

/** Rules on a pending proposal at a time. `Needs`: nothing has moved. */
export type ResolutionStep<Answer = Ruling> = (at: Instant) => PreparedCommit<Answer> | Unrecorded<Answer> | Needs;

/** The steps that an amendment shares with other approvals of one pending proposal. */
export interface ApprovalSteps<Answer = Ruling> {
  resolve(prepare: (pending: PendingPayload) => Promise<ResolutionStep<Answer>>): Promise<Answer>;
  planBeliefs(
    pending: PendingPayload,
    commit: CounselorCommit,
    at: Instant,
    kept: PayloadBlobs,
  ): PlannedBeliefs | Needs | undefined;
}

/**
 * Commits a pending proposal with the counselor's arguments. The calls are planned for the amended
 * proposal, as for an action without a transaction body, and again if the state of the ruling
 * declares others. The calls of the first proposal are never made.
 *
 * @throws KernelError `unauthorised_counselor`, `invalid_amendment`, `override_needed`; the errors
 * of `resolve`
 */
export async function amend(
  writer: Writer,
  effects: TransactionEngines | undefined,
  pendingId: Hash,
  input: ApprovalInput,
  steps: ApprovalSteps,
): Promise<Ruling> {
  for (let tries = 0; tries < COMMIT_ATTEMPTS_MAX; tries++) {
    if (writer.stale) await writer.ready();
    const pending = writer.parts.chain.open.get(pendingId);
    let isRuled = false;
    const rule = (plan?: CommitPlan): Promise<Ruling> => {
      isRuled = true;
      return commitAmended(writer, pendingId, input, plan, steps);
    };
    try {
      const asked = pending && (await amendedProposal(writer, pending, input));
      const calls = asked === undefined ? [] : callsNow(writer, pendingId, asked, input);
      if (asked === undefined || calls.length === 0) return await rule();
      const { writ, intent } = asked;
      const proposal = { writ, principal: writ.writ.subject, intent, keyHash: undefined, isApproved: true };
      return await proposeCalls(writer, effects, proposal, calls, rule);
    } catch (error) {
      const isOutdated = isRuled && isAssizeError(error, 'stale');
      // Another process appended first, so the store never gets the pending proposal.
      const isGone = writer.stale && isAssizeError(error, 'blob_missing');
      if (!isOutdated && !isGone) throw error;
    }
  }
  throw await writer.conflictError();
}

/**
 * The ruling that `amend` would give. The calls are planned for the amended proposal, and nothing
 * is claimed or written for them.
 *
 * @throws the errors of `amend`
 */
export async function judgeAmendment(
  writer: Writer,
  effects: TransactionEngines | undefined,
  pendingId: Hash,
  input: ApprovalInput,
  steps: ApprovalSteps<Judgement>,
): Promise<Judgement> {
  const chance = new SaltSource(writer.context.random);
  const judge = (): Promise<Judgement> =>
    steps.resolve(async (pending) => {
      const asked = await amendedProposal(writer, pending, input);
      const calls = callsNow(writer, pendingId, asked, input);
      const plan = await plannedOnly(writer, effects, asked.intent.action, calls);
      return (at) => {
        const step = judgedStep(writer, pendingId, pending, asked, input, plan, at, steps, chance);
        if ('needs' in step) return step;
        return { unrecorded: approvalJudgement(step.commit, pending, plan) };
      };
    });
  for (let tries = 0; tries < COMMIT_ATTEMPTS_MAX; tries++) {
    try {
      return await judge();
    } catch (error) {
      if (!isAssizeError(error, 'stale') || error.retryable !== true) throw error;
    }
  }
  throw await writer.conflictError();
}

function plannedOnly(
  writer: Writer,
  effects: TransactionEngines | undefined,
  action: string,
  calls: readonly ProposedCall[],
): Promise<CommitPlan | undefined> {
  if (calls.length === 0) return Promise.resolve(undefined);
  return planOnly(requireTools(effects), calls, writer.parts.domain, action, AbortSignal.timeout(DEADLINE_MS));
}

/** A pending proposal with its amended intent. */
interface AmendedProposal {
  readonly waiting: PendingProposal;
  readonly writ: WritChain;
  readonly intent: Intent;
  /** Whether the arguments are the recorded ones, and only the role is amended. */
  readonly parsed: boolean;
}

/** @throws RuntimeError `bad_intent`, `observation_missing`, `erased`; LedgerFault */
async function amendedProposal(
  writer: Writer,
  pending: PendingPayload,
  { args, role }: ApprovalInput,
): Promise<AmendedProposal> {
  const { parts, context } = writer;
  const writ = parts.writs.present(pending.proposal.writ_id);
  const waiting = await writer.readValues(() => readPendingProposal(pending, holdersOf(writ), context));
  const first = waiting.intent;
  const asked = { action: first.action, role: role ?? first.role, args: args ?? first.args };
  return { waiting, writ, intent: parseIntent(asked, parts.domain), parsed: args === undefined };
}

/** The calls of the amended action on the current state. None if the ruling will refuse it. */
function callsNow(
  writer: Writer,
  pendingId: Hash,
  { waiting, writ, intent, parsed }: AmendedProposal,
  input: ApprovalInput,
): readonly ProposedCall[] {
  const { world } = writer.parts;
  const plan = (): readonly ProposedCall[] => {
    try {
      amendingKind(world, waiting, input.principal);
    } catch (error) {
      if (isAssizeError(error)) return [];
      throw error;
    }
    const authority = writer.authority(writ, writ.writ.subject, writer.now());
    return plannedCalls(world, intent, authority, waiting.inputs, { parsed });
  };
  return writer.runRuling(() => approvalRun(pendingId, intent.action, input), plan);
}

/** `plan`: the calls of the amended proposal. */
function commitAmended(
  writer: Writer,
  pendingId: Hash,
  input: ApprovalInput,
  plan: CommitPlan | undefined,
  steps: ApprovalSteps,
): Promise<Ruling> {
  const chance = new SaltSource(writer.context.random);
  return steps.resolve(async (pending) => {
    const asked = await amendedProposal(writer, pending, input);
    return (at) => {
      const { chain, domain } = writer.parts;
      const step = judgedStep(writer, pendingId, pending, asked, input, plan, at, steps, chance);
      if ('needs' in step) return step;
      const { commit, kept, believed } = step;
      const counselor: CounselorRecord = {
        principal: input.principal,
        as: commit.as,
        method: input.method,
        ...(commit.overridden ? { override: true, overridden: commit.overrides } : {}),
        ...(input.reason === undefined ? {} : { reason: input.reason }),
      };
      const amendment = () =>
        amendmentPayload(
          writer.nextPosition(at),
          chain.lastCommit,
          pendingId,
          pending,
          asked.waiting.intent,
          commit,
          counselor,
          plan,
          domain,
          kept,
          believed?.changes,
        );
      const { row, payload, batch } = writer.apply(amendment, { change: commit, facts: believed });
      const acts = plan?.commitRecords(row.id);
      const blobs = acts === undefined ? kept.blobs : [...kept.blobs, ...acts.blobs];
      return { ...batch, blobs, effects: acts?.write, answer: rulingFrom(row, payload) };
    };
  });
}

/** The amendment up to its entry: the change that memory has then, with the planned facts. */
function judgedStep(
  writer: Writer,
  pendingId: Hash,
  pending: PendingPayload,
  asked: AmendedProposal,
  input: ApprovalInput,
  plan: CommitPlan | undefined,
  at: Instant,
  steps: Pick<ApprovalSteps, 'planBeliefs'>,
  chance: SaltSource,
): Needs | { readonly commit: CounselorCommit; readonly kept: PayloadBlobs; readonly believed?: PlannedBeliefs } {
  const { chain, domain } = writer.parts;
  const others = writer.reservations.of(chain, domain, at, pendingId);
  if ('needs' in others) return others;
  const commit = judged(writer, pendingId, pending, asked, input, plan, at);
  checkReservations(commit, others);
  const kept = new PayloadBlobs(writer.context.saltGenerator(chance.restartAt(chain.head)));
  const believed = steps.planBeliefs(pending, commit, at, kept);
  if (believed === undefined) return { commit, kept };
  if (!('needs' in believed)) return { commit, kept, believed };
  commit.undo();
  return believed;
}

const NO_CALLS: readonly InputCall[] = [];

/**
 * The amended proposal, judged on the current state. On an error the state is unchanged.
 *
 * @throws KernelError; RuntimeError `frozen`; EffectError `stale` if the calls must be planned
 * again
 */
function judged(
  writer: Writer,
  pendingId: Hash,
  { proposal }: PendingPayload,
  { waiting, writ, intent, parsed }: AmendedProposal,
  { principal, override = false }: ApprovalInput,
  plan: CommitPlan | undefined,
  at: Instant,
): CounselorCommit {
  const { chain, domain, world } = writer.parts;
  amendingKind(world, waiting, principal);
  if (hasToolObservation(proposal.observations)) throw calledByBody();
  checkUnfrozen(frozenFor(chain, domain, intent, at, pendingId));
  const own = writer.authority(writ, writ.writ.subject, at, { committing: plan?.epoch });
  const { refused, asked } = checkBufferedTools(own, plan);
  if (refused !== undefined) throw refusedAmendment(refused);
  const amendment = { intent, parsed, calls: plan?.calls ?? NO_CALLS };
  const commit = amendPending(world, waiting, { principal, at, override }, amendment, withTools(own, plan, asked));
  if ('outdated' in commit)
    throw new EffectError('stale', `The calls were planned on an earlier state: ${commit.detail}. Approve again.`, {
      retryable: true,
    });
  try {
    checkUnfrozen(frozenByRules(chain, domain, () => commit.checkedAgainst(), at, pendingId));
    checkOthers(chain, domain, pendingId, commit.changes, at);
  } catch (error) {
    commit.undo();
    throw error;
  }
  return commit;
}

/** @throws RuntimeError `frozen` if another open approval blocks the amended proposal */
function checkUnfrozen(stopped: Ruling | undefined): void {
  if (stopped?.ruling !== 'frozen') return;
  const { by, detail } = stopped;
  throw new RuntimeError(
    'frozen',
    `The amended proposal is frozen: ${detail}. Resolve ${by} first, or reject this proposal.`,
    { evidence: { by }, retryable: true },
  );
}
