import type { Conversation } from './conversation.ts';

/** How long a client may carry a question, in seconds. */
export const QUESTION_SECONDS = 3_600;
/** How many ended calls are kept for late answers. */
const ENDED_MAX = 100;

/**
 * The calls of one principal that wait for an answer of their client. A call that has ended is kept
 * for as long as its client may carry a question, so that a late answer gets its end.
 */
export class Conversations {
  readonly #all: Map<string, Conversation<unknown>> = new Map();
  readonly #ended: Set<string> = new Set();

  add(conversation: Conversation<unknown>): void {
    this.#all.set(conversation.id, conversation);
  }

  find(id: string): Conversation<unknown> | undefined {
    return this.#all.get(id);
  }

  ended({ id, wasAsked }: Conversation<unknown>): void {
    if (!wasAsked) {
      this.#drop(id);
      return;
    }
    this.#ended.add(id);
    setTimeout(() => this.#drop(id), QUESTION_SECONDS * 1_000).unref();
    const [oldest] = this.#ended;
    if (this.#ended.size > ENDED_MAX && oldest !== undefined) this.#drop(oldest);
  }

  #drop(id: string): void {
    this.#all.delete(id);
    this.#ended.delete(id);
  }
}
