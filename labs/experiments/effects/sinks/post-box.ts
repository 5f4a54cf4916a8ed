import {
  type CallContext,
  type Delivery,
  DidNothing,
  declareTool,
  type Sink,
  type Tool,
} from 'assize/internal/effects';
import { z } from 'zod';
import { LostResponse } from '../faulty.ts';

/**
 * The result of the first call about a message. Later calls succeed, except after a `final
 * refusal`.
 */
export type PostFault = 'exception' | 'lost before' | 'lost after' | 'hang' | 'final refusal';

export const POST_FAULTS: readonly PostFault[] = [
  'exception',
  'lost before',
  'lost after',
  'hang',
  'final refusal',
];

// Created once for all instances: the schema compiles its input check.
const MESSAGE = z.strictObject({ message: z.string() });
const RESERVED = z.strictObject({ place: z.string() });

/**
 * A sink of irreversible messages and reversible reservations, with its own log of the accepted
 * messages.
 */
export class PostBox {
  readonly sort: Sink;
  readonly tools: readonly Tool[];
  /** Messages, in order. A keyed sink accepts each key once, any other sink every message. */
  readonly taken: string[] = [];
  /** The messages that the sink took without an approval. */
  readonly unapproved: string[] = [];
  readonly #fault: PostFault;
  readonly #delivery: Delivery;
  /** The messages that have met their fault. */
  readonly #met = new Set<string>();
  readonly #messages = new Map<string, string>();
  readonly #takenKeys = new Set<string>();
  readonly #reserved = new Set<string>();
  readonly #approved = new Set<string>();
  #isMended = false;

  /** `delivery`: whether a message can be held. */
  constructor(sort: Sink, fault: PostFault, delivery: Delivery) {
    this.sort = sort;
    this.#fault = fault;
    this.#delivery = delivery;
    this.tools = [this.#send(), this.#reserve()];
  }

  /** Permanently refused messages are accepted from now on. */
  mend(): void {
    this.#isMended = true;
  }

  /** To be called when the message is approved, before any call that the approval causes. */
  approve(message: string): void {
    this.#approved.add(message);
  }

  /** The message of the call with that key. */
  messageOf(key: string): string | undefined {
    return this.#messages.get(key);
  }

  timesTaken(message: string): number {
    return this.taken.filter((each) => each === message).length;
  }

  #send(): Tool {
    return declareTool({
      name: 'post.send',
      input: MESSAGE,
      class: { reversibility: 'irreversible', delivery: this.#delivery, sink: this.sort },
      writes: ['post:messages:{message}'],
      execute: ({ message }, { key }) => {
        this.#messages.set(key, message);
        return this.#faulty(`send ${message}`, () => {
          if (this.sort === 'keyed' && this.#takenKeys.has(key)) return;
          this.#takenKeys.add(key);
          this.taken.push(message);
          if (!this.#approved.has(message)) this.unapproved.push(message);
        });
      },
      ...this.#asked((key) => this.#takenKeys.has(key)),
    });
  }

  #reserve(): Tool {
    return declareTool({
      name: 'post.reserve',
      input: RESERVED,
      class: { reversibility: 'reversible', delivery: 'externalised', sink: this.sort },
      writes: ['post:places:{place}'],
      execute: (_, { key }) => void this.#reserved.add(key),
      compensate: async ({ place }, _result, { key }) => {
        await this.#faulty(`undo ${place}`, () => void this.#reserved.delete(key));
        return { undone: 'all' };
      },
      ...this.#asked((key) => this.#reserved.has(key)),
    });
  }

  #asked(has: (key: string) => boolean) {
    if (this.sort !== 'queryable') return {};
    return {
      reconcile: (_: unknown, { key }: CallContext) =>
        has(key) ? { happened: true as const, result: null } : { happened: false as const },
    };
  }

  async #faulty(what: string, make: () => void): Promise<void> {
    const isFirst = !this.#met.has(what);
    this.#met.add(what);
    if (this.#fault === 'final refusal' && !this.#isMended)
      throw new DidNothing('it is not taken', { final: true });
    if (!isFirst) return make();
    if (this.#fault === 'exception') throw new DidNothing('nobody is there');
    if (this.#fault === 'lost before') throw new LostResponse('the line was dead');
    make();
    if (this.#fault === 'lost after') throw new LostResponse('the line went dead');
    if (this.#fault === 'hang') await new Promise<never>(() => undefined);
  }
}
