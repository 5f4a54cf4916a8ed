import { randomUUID } from 'node:crypto';
import { arg, checkArgument, type Json } from 'assize/internal/base';
import { EffectError } from 'assize/internal/effects';
import type { CounselAnswer, CounselQuestion } from './question.ts';

/** A question that needs a human decision. */
export interface OpenQuestion extends CounselQuestion {
  readonly id: string;
}

/**
 * Open questions of this process, with methods to answer them from outside. An unanswered question
 * ends with its transaction.
 */
export class CounselDesk {
  readonly #open = new Map<
    string,
    { readonly question: OpenQuestion; readonly answer: (answer: CounselAnswer) => void }
  >();

  /** The `ask` function for a `counselTool`. */
  readonly ask = (question: CounselQuestion, signal: AbortSignal): Promise<CounselAnswer> => {
    const { promise, resolve, reject } = Promise.withResolvers<CounselAnswer>();
    const id = randomUUID();
    const leave = (): void => {
      this.#open.delete(id);
      reject(signal.reason);
    };
    if (signal.aborted) leave();
    else {
      signal.addEventListener('abort', leave, { once: true });
      const answer = (given: CounselAnswer): void => {
        signal.removeEventListener('abort', leave);
        this.#open.delete(id);
        resolve(given);
      };
      this.#open.set(id, { question: { ...question, id }, answer });
    }
    return promise;
  };

  /** The open questions, oldest first. */
  open(): readonly OpenQuestion[] {
    return [...this.#open.values()].map(({ question }) => structuredClone(question));
  }

  /**
   * Answers a question, once.
   * @throws EffectError `wrong_state` if no open question has that id, `bad_resolution` for an
   * index of no branch or of a failed branch; ArgumentError `bad_argument`
   */
  decide(id: string, answer: CounselAnswer): void {
    checkArgument(arg.text, id, 'id');
    const open = this.#open.get(id);
    if (open === undefined)
      throw new EffectError(
        'wrong_state',
        `No question ${JSON.stringify(id)} is open. It was answered, or its caller has stopped waiting.`,
      );
    open.answer(checkedAnswer(open.question, answer));
  }
}

const BY_MAX = 256;

/**
 * A checked copy of the answer.
 * @throws EffectError `bad_resolution`
 */
export function checkedAnswer({ branches }: CounselQuestion, given: CounselAnswer): CounselAnswer {
  if (typeof given !== 'object' || given === null) throw bad('pass chosen and by');
  const { chosen, by, reason } = given;
  if (typeof by !== 'string' || by.trim() === '' || by.length > BY_MAX)
    throw bad(`by must name the counselor in 1 to ${BY_MAX} characters`);
  if (reason !== undefined && typeof reason !== 'string') throw bad('the reason must be a string');
  if (chosen !== null) {
    const branch = branches[chosen] as { readonly failed?: Json } | undefined;
    if (!Number.isSafeInteger(chosen) || branch === undefined)
      throw bad(
        `chosen must be the index of a branch, 0 to ${branches.length - 1}, or null for no branch`,
      );
    if (branch.failed === true) throw bad(`branch ${chosen} has failed`);
  }
  return { chosen, by, ...(reason === undefined ? {} : { reason }) };
}

function bad(what: string): EffectError {
  return new EffectError('bad_resolution', `The answer is not valid: ${what}.`);
}
