import type { Json } from '#base';
import type { Call } from '#effects';

/**
 * What calls have answered in an attempt at a transaction, which may ask again what it has read. An attempt is told by its signal, with
 * which they go.
 */
export class Answers {
  readonly #all = new WeakMap<AbortSignal, Map<string, Json>>();

  /** What that very call has answered before. */
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
