import { randomUUID } from 'node:crypto';
import type { LoggingMessageNotificationParams, Progress } from '@modelcontextprotocol/server';

/** A request of the server behind the gateway to the client of a call. */
export interface ServerQuestion {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  readonly params: Readonly<Record<string, unknown>>;
}

/** One request of the client, by which a call goes on. */
export interface Round {
  readonly signal: AbortSignal;
  readonly log: (message: LoggingMessageNotificationParams) => void;
  readonly progress?: (progress: Progress) => void;
}

/** The next turn of a call: a question for the client, or the end. */
export type Turn<E> =
  | { readonly question: ServerQuestion; readonly number: number }
  | { readonly end: E };

/** How many questions a server may ask in one call. The SDK has the same limit for old clients. */
const QUESTIONS_MAX = 8;

interface Asked {
  readonly question: ServerQuestion;
  readonly number: number;
  readonly answered: PromiseWithResolvers<unknown>;
}

/**
 * One call that outlives a request of its client. A question of the server ends the request, and
 * the next request brings the answer. Questions are asked one after the other.
 */
export class Conversation<E> {
  readonly id: string = randomUUID();
  /** The tool, its definition and the arguments. An answer to another call is refused. */
  readonly about: string;
  /** Ends when the client leaves while it waits for the call. */
  readonly signal: AbortSignal;
  readonly #leaves: AbortController = new AbortController();
  readonly #answerMs: number;
  readonly #waiting: Asked[] = [];
  #round: Round | undefined;
  #turn: PromiseWithResolvers<Turn<E>> | undefined;
  #end: Promise<E> | undefined;
  #isEnded = false;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(about: string, answerMs: number) {
    this.about = about;
    this.signal = this.#leaves.signal;
    this.#answerMs = answerMs;
  }

  /** The call itself. It is made once. */
  begin(end: Promise<E>): void {
    this.#end = end;
    void end.then(
      () => this.#over(),
      () => this.#over(),
    );
  }

  /** Waits for the next question or for the end, in the name of one request of the client. */
  async next(round: Round): Promise<Turn<E>> {
    const leave = (): void => this.#leaves.abort(round.signal.reason);
    if (round.signal.aborted) leave();
    round.signal.addEventListener('abort', leave, { once: true });
    this.#round = round;
    this.#turn = Promise.withResolvers<Turn<E>>();
    if (this.#isEnded) this.#over();
    else this.#show();
    try {
      return await this.#turn.promise;
    } finally {
      round.signal.removeEventListener('abort', leave);
      this.#round = undefined;
      this.#turn = undefined;
    }
  }

  /** Asks the client. Rejects if no answer comes in time. */
  ask(question: ServerQuestion): Promise<unknown> {
    this.#count += 1;
    if (this.#count > QUESTIONS_MAX)
      return Promise.reject(new Error(`a call has at most ${QUESTIONS_MAX} questions`));
    const asked: Asked = { question, number: this.#count, answered: Promise.withResolvers() };
    this.#waiting.push(asked);
    this.#show();
    return asked.answered.promise;
  }

  /** Whether the call has ended. A later request gets its end. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Whether the client was asked, so that a request of it may come after the end. */
  get wasAsked(): boolean {
    return this.#count > 0;
  }

  /** Takes the answer to the question of that number. Another number answers nothing. */
  answer(number: number, answer: unknown): boolean {
    const [first] = this.#waiting;
    if (first?.number !== number) return false;
    this.#waiting.shift();
    clearTimeout(this.#timer);
    if (answer === undefined) first.answered.reject(new Error('the client gave no answer'));
    else first.answered.resolve(answer);
    return true;
  }

  log(message: LoggingMessageNotificationParams): void {
    this.#round?.log(message);
  }

  progress(progress: Progress): void {
    this.#round?.progress?.(progress);
  }

  #show(): void {
    const [first] = this.#waiting;
    const turn = this.#turn;
    if (first === undefined || turn === undefined) return;
    this.#turn = undefined;
    turn.resolve({ question: first.question, number: first.number });
    this.#timer = setTimeout(() => this.answer(first.number, undefined), this.#answerMs).unref();
  }

  #over(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    this.#turn?.resolve((this.#end as Promise<E>).then((end) => ({ end })));
    for (const { answered } of this.#waiting.splice(0))
      answered.reject(new Error('the call is over'));
  }
}
