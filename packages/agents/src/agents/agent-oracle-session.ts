import { deepFreeze, type Json } from 'assize/internal/base';
import {
  type CallScope,
  type CallSequence,
  type Clock,
  callSequence,
  type Oracle,
  type OracleAnswer,
  type OracleCall,
  oracleClock,
  oracleRandom,
  type Random,
} from 'assize/internal/oracle';
import { checkObservationName, type ObservationInput } from 'assize/internal/runtime';
import type { AgentOracle, AgentQuestion, CallResult, LastRuling } from './agent.ts';
import { AgentError } from './errors.ts';

/** Access to the outside world. A replay uses the oracle alone. */
export interface OracleSources {
  readonly oracle: Oracle;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * After the abort no further question is asked. Answers to earlier questions are still recorded.
   */
  readonly ended?: AbortSignal;
}

/** One invocation of an agent, with its number from 0 among the agent's decided invocations. */
export interface Invocation {
  readonly trajectory: string;
  readonly agent: string;
  readonly number: number;
  /** Answers may have any name: they are recorded under it, or are not observed. */
  readonly anyName?: boolean;
  /** The calls of the agent's last proposal. Absent in a replay, where the log has the answer. */
  readonly lastCalls?: () => Promise<readonly CallResult[]>;
  /** The ruling on the agent's last proposal. Absent in a replay, where the log has the answer. */
  readonly lastRuling?: () => Promise<LastRuling | null>;
}

/**
 * Maximum number of questions of one invocation, and the distance between the ordinals of
 * consecutive invocations. A question's position therefore does not depend on earlier questions:
 * they are unknown after a crash.
 */
export const QUESTIONS_MAX = 65_536;

/**
 * The oracle of one invocation. It records the answers, and refuses questions after the decision.
 */
export class AgentOracleSession {
  /** The object for the agent, without access to the records. */
  readonly oracle: AgentOracle;
  readonly #oracle: Oracle;
  readonly #ended: AbortSignal | undefined;
  readonly #invocation: Invocation;
  readonly #calls: CallSequence;
  readonly #answers: Map<number, { readonly name: string; readonly answer: OracleAnswer }> =
    new Map();
  readonly #inFlight: Set<Promise<unknown>> = new Set();
  #asked: number = 0;
  #failure: unknown;
  #isOver: boolean = false;

  constructor(outside: OracleSources, invocation: Invocation) {
    const { trajectory, agent, number } = invocation;
    this.#oracle = outside.oracle;
    this.#ended = outside.ended;
    this.#invocation = invocation;
    const calls = callSequence({ trajectory, branch: null, agent }, number * QUESTIONS_MAX);
    this.#calls = { next: () => this.#admit(calls) };
    this.oracle = Object.freeze({
      ask: (asking: AgentQuestion) => this.#ask(asking),
      now: async () => oracleClock(this.#noting('clock'), this.#calls, outside.clock).now(),
      random: async (bytes: number) =>
        oracleRandom(this.#noting('random'), this.#calls, outside.random).bytes(bytes),
      calls: async () =>
        (await this.#ask(this.#asksForCalls())) as unknown as readonly CallResult[],
      ruling: async () => (await this.#ask(this.#asksForRuling())) as unknown as LastRuling | null,
    });
  }

  /** The error of the first unanswered question, even if the agent continued without an answer. */
  get failure(): unknown {
    return this.#failure;
  }

  /**
   * Ends when all questions are answered. Otherwise the set of answers before the decision would be
   * random.
   */
  async end(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight);
    this.#isOver = true;
  }

  /** The answers, in question order. */
  observations(): (ObservationInput & { readonly oracle_key: string })[] {
    return this.#inOrder().map(({ name, answer: { value, oracle_key } }) => ({
      name,
      value,
      oracle_key,
    }));
  }

  /** The answers without values, as JSON. */
  consulted(): Json {
    return this.#inOrder().map(({ name, answer: { oracle_key, hash } }) => [
      name,
      oracle_key,
      hash,
    ]);
  }

  #asksForCalls(): AgentQuestion {
    const { lastCalls = async () => [] } = this.#invocation;
    return {
      name: 'calls',
      request: { ask: 'calls' },
      call: async () => (await lastCalls()) as unknown as Json,
    };
  }

  #asksForRuling(): AgentQuestion {
    const { lastRuling = async () => null } = this.#invocation;
    return {
      name: 'ruling',
      request: { ask: 'ruling' },
      call: async () => (await lastRuling()) as unknown as Json,
    };
  }

  async #ask({ name = 'oracle', request, theta, call }: AgentQuestion): Promise<Json> {
    this.#checkName(name);
    const asking = {
      scope: this.#calls.next(),
      request,
      call: this.#inTime(call),
      ...(theta === undefined ? {} : { theta }),
    };
    return this.#noting(name).ask(asking);
  }

  /**
   * Refuses a question with a name that no observation may have, because its turn could never be
   * proposed.
   */
  #checkName(name: string): void {
    if (this.#invocation.anyName === true) return;
    try {
      checkObservationName(name);
    } catch (error) {
      this.#failure ??= error;
      throw error;
    }
  }

  #inOrder(): { readonly name: string; readonly answer: OracleAnswer }[] {
    return [...this.#answers].sort(([one], [other]) => one - other).map(([, answered]) => answered);
  }

  #admit(calls: CallSequence): CallScope {
    const { agent } = this.#invocation;
    this.#checkOpen();
    if (this.#asked++ >= QUESTIONS_MAX)
      throw new AgentError(
        'too_large',
        `${agent} asked more than ${QUESTIONS_MAX} questions for one decision. Ask fewer questions.`,
      );
    return calls.next();
  }

  #inTime(call: AgentQuestion['call']): AgentQuestion['call'] {
    return () => {
      this.#checkOpen();
      return call();
    };
  }

  #checkOpen(): void {
    if (!this.#isOver && this.#ended?.aborted !== true) return;
    const { agent } = this.#invocation;
    throw new AgentError(
      'misuse',
      `${agent} cannot ask the oracle, because its decision or the run has ended. Await every question before the decision returns.`,
    );
  }

  #noting(name: string): Oracle {
    const oracle = this.#oracle;
    const consult = (asking: OracleCall): Promise<OracleAnswer> => {
      const answering = oracle.consult(asking).then(
        (answer) => {
          deepFreeze(answer.value);
          this.#answers.set((asking.scope as CallScope).ordinal, { name, answer });
          return answer;
        },
        (error: unknown) => {
          this.#failure ??= error;
          throw error;
        },
      );
      const settled = answering.then(
        () => undefined,
        () => undefined,
      );
      this.#inFlight.add(settled);
      settled.then(() => this.#inFlight.delete(settled));
      return answering;
    };
    return { mode: oracle.mode, consult, ask: async (asking) => (await consult(asking)).value };
  }
}
