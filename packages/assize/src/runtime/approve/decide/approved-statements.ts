import { type AssizeError, isAssizeError } from '#base';
import { type CounselorCommit, invalidAmendment, KernelError, PROPOSE_AGAIN_HINT } from '#kernel';
import type { Hash, Instant, PendingPayload } from '#ledger';
import { MemoryError, type Question } from '#memory';
import { RuntimeError } from '../../errors.ts';
import { type PlannedBeliefs, requireFactStore } from '../../memory/plan/plan-beliefs.ts';
import { WithdrawnSources } from '../../memory/plan/withdrawn-sources.ts';
import { type Needs, needs } from '../../records/needs.ts';
import type { PayloadBlobs } from '../../records/payload-blobs.ts';
import type { ApprovalPorts } from './approval-ports.ts';
import type { CounselorAnswers } from './counselor-answers.ts';

/** The approval that the statements belong to. */
interface ApprovalOfStatements {
  readonly pendingId: Hash;
  /** The same object each time that a call plans the proposal. */
  readonly call: object;
  /** Whether the ruling is only foreseen. */
  readonly isJudgement: boolean;
  readonly errors: StatementErrors;
}

/** The statements of a pending proposal in one call that approves it, or foresees its approval. */
export class ApprovedStatements {
  readonly #ports: ApprovalPorts;
  readonly #approval: ApprovalOfStatements;
  /** The withdrawals since the proposal. */
  #withdrawn: WithdrawnSources | undefined;

  constructor(ports: ApprovalPorts, approval: ApprovalOfStatements) {
    this.#ports = ports;
    this.#approval = approval;
  }

  /**
   * Plans the statements on the current facts. If they do not fit, the state is as before.
   *
   * @throws KernelError `changed_since`, `invalid_amendment`; RuntimeError `answers_needed`;
   * MemoryError
   */
  plan(
    pending: PendingPayload,
    commit: CounselorCommit,
    at: Instant,
    kept: PayloadBlobs,
    given: CounselorAnswers = {},
  ): PlannedBeliefs | Needs | undefined {
    if (commit.compiled.statements.length === 0) return undefined;
    try {
      const withdrawn = this.#withdrawnSince(pending);
      if ('needs' in withdrawn) {
        commit.undo();
        return withdrawn;
      }
      const gone = withdrawn.refusalOf(commit.compiled.statements);
      if (gone !== undefined) throw gone;
      return this.#planned(pending, commit, at, kept, given);
    } catch (error) {
      commit.undo();
      throw error;
    }
  }

  /** The sources that the trajectory withdrew after the proposal was submitted. */
  #withdrawnSince(pending: PendingPayload): WithdrawnSources | Needs {
    const { writer } = this.#ports;
    if (this.#withdrawn?.hasRead(writer.parts.chain.seq) === true) return this.#withdrawn;
    const withdrawn = this.#withdrawn ?? new WithdrawnSources(writer.context.store, pending);
    this.#withdrawn = withdrawn;
    return needs(async () => {
      await writer.busy;
      // Memory can be ahead of the store, and a read alone would never let the store catch up.
      await writer.flushed();
      await withdrawn.read();
    });
  }

  #planned(
    { proposal }: PendingPayload,
    { compiled }: CounselorCommit,
    at: Instant,
    kept: PayloadBlobs,
    given: CounselorAnswers,
  ): PlannedBeliefs | Needs | undefined {
    const { writer, beliefs } = this.#ports;
    const { pendingId, call, isJudgement, errors } = this.#approval;
    const planned = requireFactStore(beliefs).plan({
      ...given,
      call,
      isJudgement,
      generation: writer.generation,
      compiled,
      proposalId: proposal.proposal_id,
      trajectoryId: writer.id,
      at,
      // The time of submission, so that the question is the same, however late the approval.
      assertedAt: proposal.said_at ?? proposal.at,
      predicates: writer.parts.domain.memory?.predicates ?? {},
      blobs: kept,
    });
    if (planned === undefined || 'changes' in planned || 'needs' in planned) return planned;
    if ('questions' in planned) throw errors.unanswered(pendingId, planned.questions);
    const { refusal } = planned;
    // The answers are at fault, not the pending proposal.
    if (given.answers !== undefined && isAssizeError(refusal, 'stale_answer'))
      throw staleAnswer(pendingId, refusal);
    if (given.answers !== undefined && ANSWER_FAULTS.has(refusal.reason)) throw refusal;
    throw errors.refused(refusal.message.replace(/\.$/, ''));
  }
}

const ANSWER_FAULTS: ReadonlySet<string> = new Set([
  'unknown_member',
  'repeated_answer',
  'bad_text',
]);

/** The errors for statements that do not fit the current facts. */
interface StatementErrors {
  unanswered(pendingId: Hash, questions: readonly Question[]): Error;
  refused(why: string): Error;
}

/** For the statements as they were submitted. */
export const UNCHANGED: StatementErrors = {
  unanswered,
  refused: (why) =>
    new KernelError(
      'changed_since',
      `The statements of the proposal do not fit the current facts: ${why}. ${PROPOSE_AGAIN_HINT}.`,
    ),
};

export const AMENDED: StatementErrors = {
  unanswered: () =>
    invalidAmendment(
      'The amended statements contradict current facts, and an amendment has no answers. Amend it otherwise, or reject it.',
    ),
  refused: (why) =>
    invalidAmendment(
      `The amended statements do not fit the current facts: ${why}. Amend it otherwise, or reject it.`,
    ),
};

function unanswered(pendingId: Hash, questions: readonly Question[]): RuntimeError {
  const requests = questions.map(({ request }) => request);
  return new RuntimeError(
    'answers_needed',
    `The proposal ${pendingId} contradicts current facts. Approve it with an answer to each question (${requests.join(', ')}); on the command line, pass --answer N, with the number of a claim in assize pending. If these questions were not shown: ${PROPOSE_AGAIN_HINT}.`,
    { evidence: { id: pendingId, requests } },
  );
}

/**
 * The proposal is not submitted again with current facts. An entry exists only for an intent or for
 * a resolution (docs/decisions/003-what-writes-an-entry.md). A pending proposal is submitted again
 * only unchanged (`ledger/rules/approvals.ts`).
 */
function staleAnswer(pendingId: Hash, { evidence }: AssizeError): MemoryError {
  return new MemoryError(
    'stale_answer',
    `The question of ${pendingId} is out of date, because the facts have changed since. Approve it without answers, or reject it and propose it again under a new idempotency key.`,
    { evidence: { ...evidence, id: pendingId } },
  );
}
