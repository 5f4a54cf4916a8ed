import { isAssizeError, type Json } from '#base';
import type { Instant } from '#canon';
import type { PartitionName } from '#ledger';
import { type Answer, MemoryError, type Question } from '#memory';
import {
  type Asking,
  type Oracle,
  type OracleAnswer,
  oracleKey,
  type Pause,
  systemPause,
  type Theta,
  thetaHash,
} from '#oracle';
import { RuntimeError } from '../../errors.ts';

/**
 * Who chooses where a predicate declares `rule`. A vote is in the oracle log, under the memory's space, the question's hash and the policy,
 * before it counts: the same question is never asked twice of the same policy, whoever asks and whenever. Where what is believed has
 * changed by then it is another question, which is asked anew. That something became no vote is kept there too, and listed by `attemptsOf`: the
 * judge threw, named a claim that is none of the members, took too long, or was later than another one. What it said then is not.
 *
 * Since when a claim is so that has no time of its own is there before: it is part of the question, which is the same when what was said
 * is said again after a crash.
 */
export interface Judge {
  readonly oracle: Oracle;
  /** What the votes are made with; another one is another judge. Default: nothing of it is known. */
  readonly theta?: Theta;
  /** The version of the policy that it goes by, which witnesses name. Another one is asked anew: no vote stands for a policy that never gave it. */
  readonly policy?: string;
  /** The claim of the member that is to be believed. May ask a model; nothing is open meanwhile. */
  readonly choose: (question: Question) => string | Promise<string>;
  /** How long a vote may take, in whole milliseconds; who proposed gets `judge_late` then, and a vote that comes later is none. Default: as long as it takes. */
  readonly timeoutMs?: number;
  /** How that is waited for. Default: the machine's time. */
  readonly pause?: Pause;
}

/** What a judge has voted, as far as it was asked for. */
export class Votes {
  readonly #judge: Judge;
  /** By the call for which it was asked, and no longer: a vote that is erased meanwhile is the log's to know, whichever process erases it. */
  readonly #votes: WeakMap<object, Map<string, Answer>> = new WeakMap();

  /** @throws RuntimeError `bad_option` */
  constructor(judge: Judge) {
    requireTime(judge);
    this.#judge = judge;
  }

  /** `call`: that for which it was asked. */
  of(call: object, request: string): Answer | undefined {
    return this.#votes.get(call)?.get(request);
  }

  /** When these claims were said, by whoever came first. @throws what the oracle log throws */
  async saidAt({ space, branch }: PartitionName, claims: readonly string[], at: Instant): Promise<Instant> {
    const { value } = await this.#consulted({
      scope: { kind: 'memory', space },
      // What a branch tries says nothing of what is said elsewhere.
      request: { said: claims, ...(branch !== undefined && { branch }) },
      // By the claims it is found when what they say is erased.
      call: () => ({ at, claims }),
    });
    // Earlier versions kept the instant alone.
    return typeof value === 'string' ? value : (value as { readonly at: Instant }).at;
  }

  /**
   * @throws MemoryError `unknown_member` for a vote for nobody that is in question, `judge_late`; what the judge and the oracle log throw
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
    const by = { theta: thetaHash(theta), judge: oracle_key, ...(policy !== undefined && { policy }) };
    const votes = this.#votes.get(call) ?? new Map<string, Answer>();
    this.#votes.set(call, votes.set(request, { ...by, request, winner: value as string }));
  }

  /** What is said anew after the answer was erased is another question, which names the entry that has erased it. */
  async #consulted(asking: Consulting): Promise<OracleAnswer> {
    try {
      return await this.#judge.oracle.consult(asking);
    } catch (error) {
      const { scope, request, theta = {} } = asking;
      // One that the judge met itself, in its own log, is another.
      if (!isAssizeError(error, 'erased') || error.evidence['key'] !== oracleKey({ scope, request, theta }))
        throw error;
      return this.#consulted({ ...asking, request: { ...request, erasedBy: error.evidence['by'] as string } });
    }
  }
}

type Consulting = Omit<Asking, 'request'> & { readonly request: { readonly [member: string]: Json } };

/** Else each proposal would fail by it. Node takes longer times for one millisecond. */
function requireTime({ timeoutMs }: Judge): void {
  if (timeoutMs === undefined || (Number.isSafeInteger(timeoutMs) && timeoutMs > 0 && timeoutMs < 2 ** 31)) return;
  throw new RuntimeError(
    'bad_option',
    'The options can’t be used: judge.timeoutMs must be a whole number of milliseconds from 1 to 2,147,483,647.',
  );
}

/** The judge gets a copy: what it makes of that is neither planned on nor what its vote is compared with. */
async function voteOf({ choose, timeoutMs, pause = systemPause }: Judge, question: Question): Promise<string> {
  const shown = structuredClone(question);
  if (timeoutMs === undefined) return choose(shown);
  const isDone = new AbortController();
  const late = pause(timeoutMs, timeoutMs, isDone.signal).then(() => {
    throw new MemoryError(
      'judge_late',
      `The judge has not voted within ${timeoutMs} ms; propose it again to ask anew.`,
      {
        evidence: { request: question.request },
      },
    );
  });
  try {
    return await Promise.race([Promise.resolve(choose(shown)), late]);
  } finally {
    isDone.abort();
    // Woken by that, it is late for nobody.
    late.catch(() => undefined);
  }
}

function requireMember({ request, members }: Question, claim: Json): void {
  if (members.some((member) => member.claim === claim)) return;
  throw new MemoryError('unknown_member', 'A judge answers with the claim of one of the members that it is shown.', {
    evidence: { request },
  });
}
