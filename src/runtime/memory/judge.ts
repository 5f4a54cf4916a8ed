import { type Json, RecentMap } from '#canon';
import { type Answer, MemoryError, type Question } from '#memory';
import { type Oracle, type Theta, thetaHash } from '#oracle';

/**
 * Who chooses where a predicate declares `rule`. A vote is in the oracle log, under the memory's space, the question's hash and the policy,
 * before it counts: the same question is never asked twice of the same policy, whoever asks and whenever.
 */
export interface Judge {
  readonly oracle: Oracle;
  /** What the votes are made with; another one is another judge. Default: nothing of it is known. */
  readonly theta?: Theta;
  /** The version of the policy that it goes by, which witnesses name. Another one is asked anew: no vote stands for a policy that never gave it. */
  readonly policy?: string;
  /** The claim of the member that is to be believed. May ask a model; nothing is open meanwhile. */
  readonly choose: (question: Question) => string | Promise<string>;
}

/** Votes that are kept in memory; more only cost a look each. */
const VOTES_MAX = 4_096;

/** What a judge has voted, as far as it was asked for. */
export class Votes {
  readonly #judge: Judge;
  readonly #votes: RecentMap<string, Answer> = new RecentMap(VOTES_MAX);

  constructor(judge: Judge) {
    this.#judge = judge;
  }

  of(request: string): Answer | undefined {
    return this.#votes.get(request);
  }

  /** @throws MemoryError `unknown_member` for a vote for nobody that is in question; what the judge and the oracle log throw */
  async ask(question: Question): Promise<void> {
    const { oracle, theta = {}, policy, choose } = this.#judge;
    const { space, request, members } = question;
    const isMember = (claim: Json): boolean => members.some((member) => member.claim === claim);
    const { value, oracle_key } = await oracle.consult({
      scope: { kind: 'memory', space },
      request: { judge: request, ...(policy !== undefined && { policy }) },
      theta,
      call: async () => {
        const claim = await choose(question);
        if (isMember(claim)) return claim;
        throw new MemoryError(
          'unknown_member',
          'A judge answers with the claim of one of the members that it is shown.',
          {
            evidence: { request },
          },
        );
      },
    });
    const by = { theta: thetaHash(theta), judge: oracle_key, ...(policy !== undefined && { policy }) };
    this.#votes.set(request, { ...by, request, winner: value as string });
  }
}
