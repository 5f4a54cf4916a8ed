import {
  ANY_COUNSELOR,
  counselorKind,
  KernelError,
  type PendingProposal,
  PROPOSE_AGAIN_HINT,
  seenOf,
} from '#kernel';
import { approvalsOf, type Hash, type PendingPayload } from '#ledger';
import type { Question } from '#memory';
import { RuntimeError } from '../../errors.ts';
import { requireFactStore } from '../../memory/plan/plan-beliefs.ts';
import { submittedRequests } from '../../memory/plan/questions.ts';
import type { StatementContext } from '../../memory/plan/statement-context.ts';
import { type ApprovalInput, isAnswering } from '../../records/ruling.ts';
import type { ApprovalPorts } from './approval-ports.ts';

/** The winners that a counselor has chosen, with the check of each. Empty without answers. */
export type CounselorAnswers = Pick<StatementContext, 'answers' | 'mayAnswer'>;

/**
 * The answers, after a check that the counselor may give them. The right to approve does not
 * include every answer.
 */
export async function answersOf(
  { writer, beliefs }: ApprovalPorts,
  pendingId: Hash,
  pending: PendingPayload,
  input: ApprovalInput,
  waiting: PendingProposal,
): Promise<CounselorAnswers> {
  if (!isAnswering(input)) return {};
  const { context, parts } = writer;
  const { principal, answers = [] } = input;
  const submitted = await submittedRequests(pending, context.replayer);
  return {
    answers: answers.map(({ request, winner }) => ({
      request,
      winner,
      judge: pendingId,
      approver: principal,
    })),
    mayAnswer: (question, at) => {
      if (requireFactStore(beliefs).isJudged(question)) throw changedVoteError(principal, question);
      if (submitted?.has(question.request) === false) throw notSubmittedError(pendingId, question);
      const channel = parts.domain.memory?.predicates[question.predicate]?.channel ?? ANY_COUNSELOR;
      const { requesters } = waiting;
      const named = { ...waiting, at };
      counselorKind(parts.domain, channel, principal, requesters, seenOf(waiting), named);
    },
  };
}

/**
 * An entry that is not the last approval stores no answers. So the next counselor's answers could
 * not be compared with them.
 */
export function answersTooEarly(pendingId: Hash, pending: PendingPayload): RuntimeError {
  const { needed, given } = approvalsOf(pending);
  return new RuntimeError(
    'bad_intent',
    `The proposal ${pendingId} needs ${needed} approvals, and this is number ${given.length + 1}; only the last approval has answers. Approve it without answers.`,
    { evidence: { id: pendingId } },
  );
}

/**
 * Answers show that the counselor expects questions. Without an error the counselor would not learn
 * that there are none.
 */
export function asksNothing(pendingId: Hash): RuntimeError {
  return new RuntimeError(
    'bad_intent',
    `The proposal ${pendingId} has no questions, because none of its statements can be contradicted. Review it again and approve it without answers.`,
    { evidence: { id: pendingId } },
  );
}

/** The log may have a vote already, and a question is never decided twice. */
function changedVoteError(principal: string, { predicate, request }: Question): KernelError {
  return new KernelError(
    'unauthorised_counselor',
    `${principal} cannot answer ${request}, because the judge decides contradictions of ${predicate}. Approve the proposal without an answer to ${request}.`,
    { evidence: { principal, request } },
  );
}

function notSubmittedError(pendingId: Hash, { predicate, request }: Question): KernelError {
  return new KernelError(
    'changed_since',
    `The proposal ${pendingId} did not ask ${request} (${predicate}) when it was submitted: the facts have changed, or the judge of another process decides it. ${PROPOSE_AGAIN_HINT}.`,
    { evidence: { id: pendingId, request } },
  );
}
