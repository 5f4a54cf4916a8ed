import type { Json } from '#base';
import type { Call } from '#effects';

/**
 * The answers of calls in one attempt of a transaction, which may repeat its reads. The signal of
 * the calls identifies the attempt.
 */
export class Answers {
  readonly #all = new WeakMap<AbortSignal, Map<string, Json>>();

  /** The earlier answer to the same call. */
  of<T extends Json>(call: Call, input: object): T | undefined {
    return this.#all.get(call.signal)?.get(nameOf(call, input)) as T | undefined;
  }

  keep(call: Call, input: object, answer: Json): void {
    const kept = this.#all.get(call.signal) ?? new Map<string, Json>();
    this.#all.set(call.signal, kept.set(nameOf(call, input), answer));
  }
}

function nameOf({ key }: Call, input: object): string {
  return `${key} ${JSON.stringify(input)}`;
}
