import { isAssizeError, type Json } from '#base';
import type { Instant } from '#canon';
import type { PartitionName } from '#ledger';
import { type Answer, MemoryError, type Question } from '#memory';
import {
  type Oracle,
  type OracleAnswer,
  type OracleCall,
  oracleKey,
  type Pause,
  systemPause,
  type Theta,
  thetaHash,
} from '#oracle';
import { RuntimeError } from '../../errors.ts';

/**
 * Decides contradictions of predicates that declare `rule`. A vote is recorded in the oracle log
 * before it counts, under the memory's space, the question's hash and the policy. The same question
 * is never asked twice under the same policy, by any caller. Changed facts make another question,
 * and that is asked again. Invalid votes are recorded too, without their content, and listed by
 * `attemptsOf`: the judge threw, named a claim that is not a member, took too long, or answered
 * after another vote.
 *
 * The start of a claim without its own time is fixed before the vote. It is part of the question,
 * so the question is the same when the statement is repeated after a crash.
 */
export interface Judge {
  readonly oracle: Oracle;
  /** The parameters of the judge; other parameters are another judge. Default: unknown. */
  readonly theta?: Theta;
  /**
   * The version of the judge's policy. Witnesses name it. Another version is asked again, as no
   * vote counts for a policy that did not give it.
   */
  readonly policy?: string;
  /**
   * Returns the claim of the winning member. May call a model; no transaction is open during the
   * call.
   */
  readonly choose: (question: Question) => string | Promise<string>;
  /**
   * Maximum duration of a vote, in whole milliseconds. The requester then gets `judge_late`, and a
   * later vote is invalid. Default: no limit.
   */
  readonly timeoutMs?: number;
  /** Waits for the timeout. Default: the system's timer. */
  readonly pause?: Pause;
}

/** The judge's votes. */
export class Votes {
  readonly #judge: Judge;
  /**
   * By the call that asked, and no longer: only the log knows whether a vote was erased since, in
   * any process.
   */
  readonly #votes: WeakMap<object, Map<string, Answer>> = new WeakMap();

  /** @throws RuntimeError `bad_argument` */
  constructor(judge: Judge) {
    requireTime(judge);
    this.#judge = judge;
  }

  /** `call`: the call that asked for it. */
  get(call: object, request: string): Answer | undefined {
    return this.#votes.get(call)?.get(request);
  }

  /** The time of these statements, as first recorded. @throws the errors of the oracle log */
  async assertedAt(
    { space, branch }: PartitionName,
    claims: readonly string[],
    at: Instant,
  ): Promise<Instant> {
    const { value } = await this.#consulted({
      scope: { kind: 'memory', space },
      // Statements in a branch are separate from statements outside of it.
      request: { said: claims, ...(branch !== undefined && { branch }) },
      // The claims let an erasure of the facts find this answer.
      call: () => ({ at, claims }),
    });
    // Earlier versions recorded only the instant.
    return typeof value === 'string' ? value : (value as { readonly at: Instant }).at;
  }

  /**
   * @throws MemoryError `unknown_member` for a vote that names no member, `judge_late`; the errors
   * of the judge and the oracle log
   */
  async ask(call: object, question: Question): Promise<void> {
    const { theta = {}, policy } = this.#judge;
    const { space, request } = question;
    const { value, oracle_key } = await this.#consulted({
      scope: { kind: 'memory', space },
      request: { judge: request, ...(policy !== undefined && { policy }) },
      theta,
      call: () => voteOf(this.#judge, question),
      accept: (claim) => requireMember(question, claim),
      keepAttempts: true,
    });
    const by = {
      theta: thetaHash(theta),
      judge: oracle_key,
      ...(policy !== undefined && { policy }),
    };
    const votes = this.#votes.get(call) ?? new Map<string, Answer>();
    this.#votes.set(call, votes.set(request, { ...by, request, winner: value as string }));
  }

  /**
   * After an erasure of the answer, a new statement makes a new question that names the erasing
   * entry.
   */
  async #consulted(asking: OracleVote): Promise<OracleAnswer> {
    try {
      return await this.#judge.oracle.consult(asking);
    } catch (error) {
      const { scope, request, theta = {} } = asking;
      // An error that the judge itself met in its own log does not count.
      if (
        !isAssizeError(error, 'erased') ||
        error.evidence['key'] !== oracleKey({ scope, request, theta })
      )
        throw error;
      return this.#consulted({
        ...asking,
        request: { ...request, erasedBy: error.evidence['by'] as string },
      });
    }
  }
}

type OracleVote = Omit<OracleCall, 'request'> & {
  readonly request: { readonly [member: string]: Json };
};

/** Otherwise each proposal would fail: Node treats longer times as one millisecond. */
function requireTime({ timeoutMs }: Judge): void {
  if (
    timeoutMs === undefined ||
    (Number.isSafeInteger(timeoutMs) && timeoutMs > 0 && timeoutMs < 2 ** 31)
  )
    return;
  throw new RuntimeError(
    'bad_argument',
    'The options are not valid: memory.judge.timeoutMs must be a whole number of milliseconds from 1 to 2,147,483,647.',
  );
}

/**
 * The judge gets a copy, so its changes affect neither the plan nor the comparison with its vote.
 */
async function voteOf(
  { choose, timeoutMs, pause = systemPause }: Judge,
  question: Question,
): Promise<string> {
  const shown = structuredClone(question);
  if (timeoutMs === undefined) return choose(shown);
  const isDone = new AbortController();
  const late = pause(timeoutMs, timeoutMs, isDone.signal).then(() => {
    throw new MemoryError(
      'judge_late',
      `The judge did not vote within ${timeoutMs} ms. Propose again to ask the judge again.`,
      {
        evidence: { request: question.request },
      },
    );
  });
  try {
    return await Promise.race([Promise.resolve(choose(shown)), late]);
  } finally {
    isDone.abort();
    // If the pause is woken by that, no error is late.
    late.catch(() => undefined);
  }
}

function requireMember({ request, members }: Question, claim: Json): void {
  if (members.some((member) => member.claim === claim)) return;
  throw new MemoryError(
    'unknown_member',
    'The vote of the judge is not a candidate of the question. Return the claim of one of its `members`.',
    {
      evidence: { request },
    },
  );
}
