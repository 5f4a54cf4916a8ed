import { type ReadAnswer, readAnswer } from './answer.ts';
import { answersOf } from './answers.ts';
import type { Configurable } from './place.ts';

/** An answer with which the node was resumed. `read` is undefined if it decides nothing. */
export interface GivenAnswer {
  readonly raw: unknown;
  readonly read: ReadAnswer | undefined;
  /** Whether it came with this run: only then the program has authenticated its person. */
  readonly isFresh: boolean;
  /** Whether it came under the id of its interrupt. */
  readonly isById: boolean;
}

/** The call of a node that the answers may be about. */
interface Answerable {
  readonly configurable: Configurable;
  readonly isAlone: boolean;
}

/** The answers about one call of a node, in their order. */
export class GivenAnswers {
  readonly #of: Answerable;
  #answers: GivenAnswer[] | undefined;
  #next: number = 0;

  constructor(of: Answerable) {
    this.#of = of;
  }

  /** The next answer about a waiting call. */
  next({
    call,
    approval,
  }: {
    readonly call: string;
    readonly approval: string;
  }): GivenAnswer | undefined {
    this.#answers ??= this.#given();
    while (this.#next < this.#answers.length) {
      const answer = this.#answers[this.#next++] as GivenAnswer;
      if (this.#isAbout(answer, call, approval)) return answer;
    }
    return undefined;
  }

  add(raw: unknown): void {
    this.#answers?.push({ raw, read: readAnswer(raw), isFresh: true, isById: false });
  }

  #given(): GivenAnswer[] {
    const { answers, freshAt, isById } = answersOf(this.#of.configurable);
    return answers.map((raw, at) => ({
      raw,
      read: readAnswer(raw),
      isFresh: at === freshAt,
      isById: isById && at === freshAt,
    }));
  }

  /**
   * An answer without the name of a call is about the only call of a message, if it came under the
   * id of its interrupt. Another answer could be a repetition, for an earlier call.
   */
  #isAbout({ read, isById }: GivenAnswer, call: string, approval: string): boolean {
    const { about } = read ?? {};
    if (about === undefined) return this.#of.isAlone && isById;
    return (about.call === undefined || about.call === call) && about.approval === approval;
  }
}
