import type { Approved, Domain, Rejected } from '#kernel';
import type { Hash, Instant, PendingPayload, Replayer } from '#ledger';
import type { Question } from '#memory';
import { RuntimeError } from '../../errors.ts';
import type { AskedQuestion, OpenQuestions, PendingQuestions } from '../../records/questions.ts';
import { readValue } from '../../records/stored-values.ts';
import type { Writer } from '../../writer/writer.ts';

/**
 * Submits an approved proposal to a counselor for a choice between its statements and the current
 * facts. Refused if the domain has no such counselor. The state is as before.
 */
export function escalateForAnswers(
  domain: Domain,
  approved: Approved,
  asked: OpenQuestions,
  saidAt?: Instant,
): PendingQuestions | Rejected {
  const { policy } = approved.compiled;
  const { questions } = asked;
  if (Object.keys(domain.counselors).length === 0) {
    approved.undo();
    const detail =
      'the statement contradicts current facts, and the domain has no counselor to ask';
    return {
      verdict: 'rejected',
      reason: 'precondition_failed',
      detail,
      ...(policy && { policy }),
    };
  }
  const channel = channelFor(domain, questions);
  const held = approved.requireApproval({
    reason: 'contradiction',
    detail: detailOf(questions),
    ...(channel && { channel }),
  });
  return held.verdict === 'rejected'
    ? held
    : { ...held, questions: questions.map(askedOf), saidAt, asked };
}

/**
 * The questions of a pending approval, and their state in the store now.
 *
 * @throws RuntimeError `not_pending`, `erased`
 */
export async function readQuestions(
  writer: Writer,
  pendingId: Hash,
): Promise<readonly AskedQuestion[]> {
  // Another process may have submitted or resolved it since this process read the trajectory.
  if (writer.stale || (await writer.isBehind())) await writer.ready();
  const pending = writer.parts.chain.open.get(pendingId);
  if (pending === undefined)
    throw new RuntimeError(
      'not_pending',
      `No proposal ${pendingId} is pending: it was resolved earlier, or never submitted.`,
      {
        evidence: { id: pendingId },
      },
    );
  const { questions } = pending.proposal;
  if (questions === undefined) return [];
  return (await readValue(
    pending,
    questions,
    writer.context.replayer,
  )) as unknown as readonly AskedQuestion[];
}

/**
 * The questions of a pending approval, by the id that answers name. Undefined if it has none, or if
 * a quoted fact was erased.
 */
export async function submittedRequests(
  pending: PendingPayload,
  { values }: Replayer,
): Promise<ReadonlySet<string> | undefined> {
  const { questions } = pending.proposal;
  if (questions === undefined) return undefined;
  const held = await values.read(pending, questions);
  if (!('value' in held)) return undefined;
  return new Set((held.value as unknown as readonly AskedQuestion[]).map(({ request }) => request));
}

/** Without the fields that only state the time of the question. */
function askedOf({ request, space, subject, predicate, members }: Question): AskedQuestion {
  return {
    request,
    space,
    subject,
    predicate,
    members: members.map(({ claim, ends, object, confidence, rows }) => ({
      claim,
      ...(ends && { ends }),
      object,
      confidence,
      valid: rows.map(({ valid_from, valid_to }) => ({ from: valid_from, to: valid_to })),
    })),
  };
}

/** The channel: all kinds of counselor that the predicates name. */
function channelFor(domain: Domain, questions: readonly Question[]): string | undefined {
  const named = questions.map(({ predicate }) => domain.memory?.predicates[predicate]?.channel);
  const channels = [...new Set(named.filter((channel) => channel !== undefined))].sort();
  return channels.length === 0 ? undefined : channels.join('+');
}

/** Names the predicates but not the facts, because a detail is never erased. */
function detailOf(questions: readonly Question[]): string {
  return questions
    .map(
      ({ predicate, members }) =>
        `${members.length} claims under ${predicate} contradict each other`,
    )
    .join('; ');
}
