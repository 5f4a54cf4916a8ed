import type { Json } from 'assize/internal/base';
import type { CallContext } from 'assize/internal/effects';

/**
 * The answers of calls in one attempt of a transaction. The transaction may repeat its reads. The
 * signal of the calls identifies the attempt.
 */
export class AnswerCache {
  readonly #all = new WeakMap<AbortSignal, Map<string, Json>>();

  /** The earlier answer to the same call. */
  get<T extends Json>(call: CallContext, input: object): T | undefined {
    return this.#all.get(call.signal)?.get(nameOf(call, input)) as T | undefined;
  }

  set(call: CallContext, input: object, answer: Json): void {
    const kept = this.#all.get(call.signal) ?? new Map<string, Json>();
    this.#all.set(call.signal, kept.set(nameOf(call, input), answer));
  }
}

function nameOf({ key }: CallContext, input: object): string {
  return `${key} ${JSON.stringify(input)}`;
}
