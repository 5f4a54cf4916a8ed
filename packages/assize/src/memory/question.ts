import { hashText, plainText } from '#canon';
import { MemoryError } from './errors.ts';
import { type FactRow, type Partition, requireText, validOf } from './fact.ts';
import type { Period } from './period.ts';
import { compare, type Strategy } from './strategy.ts';

/** One candidate of a contradiction: all rows with the same content there. */
export interface Member {
  /** Its name in answers and witnesses: the claim that it derives from. */
  readonly claim: string;
  readonly object: string;
  /** The preferred confidence among its rows, according to the strategy. */
  readonly confidence: number;
  /** Set if the member states that the object no longer holds. */
  readonly ends?: true;
  /** Its rows: open rows, and assertions as the rows that they would become. */
  readonly rows: readonly FactRow[];
}

/**
 * A choice for a human or a policy: which member is believed. A judge sees only the hashed parts of
 * the request: content, confidence and valid time. The time of the question is not part of it.
 */
export interface Question extends Partition {
  /**
   * The request hash R: equal for the same members, in any order and at any time (TOKI §C.5, Remark
   * 3).
   */
  readonly request: string;
  readonly strategy: Strategy;
  /** In canonical order: vote indexes refer to it. */
  readonly members: readonly Member[];
}

/** The chosen member. */
export interface Answer {
  readonly request: string;
  /** The claim of a member. An index would not be stable. */
  readonly winner: string;
  /** The hash of the judge's parameters (`thetaHash`). */
  readonly theta?: string;
  /** The key of the vote in the oracle log, or the id of the entry with the callback. */
  readonly judge?: string;
  /** The version of the policy. */
  readonly policy?: string;
  /** The principal of the counselor who answered. */
  readonly approver?: string;
}

/** The question of a conflict set, independent of the order of its members. */
export function questionOf(
  partition: Partition,
  strategy: Strategy,
  members: readonly Member[],
): Question {
  const ordered = [...members].sort((a, b) => compare(a.claim, b.claim));
  return {
    ...partition,
    request: requestHash(partition, strategy, ordered),
    strategy,
    members: ordered,
  };
}

/**
 * The answer of a vote. Votes are indexes into the members in canonical order (TOKI §C.2).
 * @throws MemoryError `unknown_member`
 */
export function answerOf(
  question: Question,
  index: number,
  by: Pick<Answer, 'theta' | 'judge' | 'policy'> = {},
): Answer {
  const member = Number.isInteger(index) ? question.members[index] : undefined;
  if (member === undefined) {
    throw new MemoryError(
      'unknown_member',
      `The vote must be an index from 0 to ${question.members.length - 1}.`,
    );
  }
  return { ...by, request: question.request, winner: member.claim };
}

/**
 * Validated copies of a caller's answers, by request.
 * @throws MemoryError `bad_text`, `repeated_answer`
 */
export function readAnswers(given: readonly Answer[]): Map<string, Answer> {
  const answers = new Map<string, Answer>();
  for (const { request, winner, theta, judge, policy, approver } of given) {
    for (const [name, text] of Object.entries({ request, winner })) requireText(text, name);
    const by = Object.entries({ theta, judge, policy, approver }).filter(
      ([, text]) => text !== undefined,
    );
    for (const [name, text] of by) requireText(text, name);
    if (answers.has(request)) {
      throw new MemoryError(
        'repeated_answer',
        'The question has two answers. Pass the one that was recorded first.',
        {
          evidence: { request },
        },
      );
    }
    answers.set(request, { request, winner, ...Object.fromEntries(by) });
  }
  return answers;
}

/**
 * Hashes exactly the parts that a judge sees: no time, entry or order. Content appears only as
 * claims (keyed hashes), so the request hash survives an erasure.
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
