import { form, requireForm } from '#base';
import { hashText, plainText } from '#canon';
import { MemoryError } from './errors.ts';
import { type FactRow, type Partition, requireText, validOf } from './fact.ts';
import type { Period } from './period.ts';
import { compare, type Strategy } from './strategy.ts';

/** One side of a contradiction: all that says the same thing there. */
export interface Member {
  /** What answers and witnesses call it by: the claim that it descends from. */
  readonly claim: string;
  readonly object: string;
  /** The confidence that the operator prefers among those of its rows. */
  readonly confidence: number;
  /** What says so: open rows as they stand, and assertions as the rows that they would be. */
  readonly rows: readonly FactRow[];
}

/**
 * What a person or a policy has to decide: which of the members is believed. A judge is to see of them what the request hashes: what
 * they say, how sure, and when it is valid; and nothing of when it is asked.
 */
export interface Question extends Partition {
  /** The request hash R: the same for the same members, in whatever order and whenever they meet (seed §C.5, Remark 3). */
  readonly request: string;
  readonly strategy: Strategy;
  /** In canonical order, which is what an index into them counts. */
  readonly members: readonly Member[];
}

/** Who is believed. */
export interface Answer {
  readonly request: string;
  /** The claim of a member. Not its index: that is not stable. */
  readonly winner: string;
  /** The hash of what the judge was asked with (`thetaHash`). */
  readonly theta?: string;
  /** The key under which the oracle log has the vote, or the id of the entry that has the callback. */
  readonly judge?: string;
  /** The version of the policy that was asked. */
  readonly policy?: string;
}

/** The question that a conflict set poses, whatever the order of its members. */
export function questionOf(partition: Partition, strategy: Strategy, members: readonly Member[]): Question {
  const ordered = [...members].sort((a, b) => compare(a.claim, b.claim));
  return { ...partition, request: requestHash(partition, strategy, ordered), strategy, members: ordered };
}

/**
 * The answer that a vote is: votes are indexes into the members in their canonical order (seed §C.2).
 * @throws MemoryError `unknown_member`; ArgumentError `bad_argument`
 */
export function answerOf(
  question: Question,
  index: number,
  by: Pick<Answer, 'theta' | 'judge' | 'policy'> = {},
): Answer {
  requireForm(QUESTION, question, 'question');
  requireForm(form.object, by, 'by');
  const member = Number.isInteger(index) ? question.members[index] : undefined;
  if (member === undefined) {
    throw new MemoryError('unknown_member', `A vote is an index from 0 to ${question.members.length - 1}.`);
  }
  return { ...by, request: question.request, winner: member.claim };
}

/**
 * Copies of answers that come from outside, by the request that they answer.
 * @throws MemoryError `bad_text`, `repeated_answer`; ArgumentError `bad_argument`
 */
export function readAnswers(given: readonly Answer[]): Map<string, Answer> {
  requireForm(form.list(form.object), given, 'answers');
  const answers = new Map<string, Answer>();
  for (const { request, winner, theta, judge, policy } of given) {
    for (const [name, text] of Object.entries({ request, winner })) requireText(text, name);
    const by = Object.entries({ theta, judge, policy }).filter(([, text]) => text !== undefined);
    for (const [name, text] of by) requireText(text, name);
    if (answers.has(request)) {
      throw new MemoryError('repeated_answer', 'A question has one answer; give the one that was recorded first.', {
        evidence: { request },
      });
    }
    answers.set(request, { request, winner, ...Object.fromEntries(by) });
  }
  return answers;
}

/**
 * Over all that a judge sees, and nothing else: no time, no entry, no order. Content stands in it by its claims, which are keyed
 * hashes, so that it stays when content is erased.
 */
function requestHash({ space }: Partition, strategy: Strategy, members: readonly Member[]): string {
  return hashText(
    plainText({
      members: members.map(({ claim, rows }) => ({
        claim,
        rows: rows
          .map((row) => ({ claim: row.lineage, confidence: row.confidence, valid: validOf(row) }))
          .sort((a, b) => compare(a.claim, b.claim) || byPeriod(a.valid, b.valid)),
      })),
      space,
      strategy,
    }),
  );
}

function byPeriod(a: Period, b: Period): number {
  return compare(a.from, b.from) || compare(a.to, b.to);
}

const QUESTION = form.members({ request: form.text, members: form.list(form.members({ claim: form.text })) });
