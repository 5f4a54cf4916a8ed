import { randomUUID } from 'node:crypto';
import type { CedarEngine } from './engine.ts';

/** The input that Cedar needs before it can be asked. */
export interface Prepared {
  readonly policies: Readonly<Record<string, string>>;
  readonly schema: string | object;
}

/**
 * Maximum number of parsed policies in Cedar. A policy beyond that is parsed again when it is used.
 * The limit exceeds the number in use in a process.
 */
export const SLOTS_MAX = 64;

/**
 * Names under which Cedar stores its parsed policies. It never frees a name, so the number of names
 * is limited, and the least recently used policy is evicted. The names are unique to this module:
 * another copy may use the same engine, and would otherwise be asked in place of this one.
 */
export class Slots {
  readonly #engine: CedarEngine;
  readonly #spare: string[];
  /** By their content, the least recently used first. */
  readonly #held: Map<Prepared, string> = new Map();

  constructor(engine: CedarEngine, max: number = SLOTS_MAX) {
    this.#engine = engine;
    const prefix = `assize-${randomUUID()}`;
    this.#spare = Array.from({ length: max }, (_, i) => `${prefix}-${i}`);
  }

  /**
   * The name under which it can be asked.
   *
   * @throws Error if Cedar refuses an input that it accepted before
   */
  nameOf(prepared: Prepared): string {
    const held = this.#held.get(prepared);
    if (held !== undefined) this.#held.delete(prepared);
    const name = held ?? this.#filled(prepared);
    this.#held.set(prepared, name);
    return name;
  }

  #filled({ policies, schema }: Prepared): string {
    const name = this.#spare.pop() ?? this.#oldest();
    const answers = [
      this.#engine.preparsePolicySet(name, { staticPolicies: policies }),
      this.#engine.preparseSchema(name, schema),
    ];
    for (const answer of answers) {
      if (answer.type === 'success') continue;
      this.#spare.push(name);
      throw new Error(answer.errors.map(({ message }) => message).join('; '));
    }
    return name;
  }

  #oldest(): string {
    const [oldest, name] = this.#held.entries().next().value as [Prepared, string];
    this.#held.delete(oldest);
    return name;
  }
}
