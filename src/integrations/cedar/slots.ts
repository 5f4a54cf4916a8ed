import { randomUUID } from 'node:crypto';
import type { CedarEngine } from './engine.ts';

/** What Cedar has to know before it can be asked. */
export interface Prepared {
  readonly policies: Readonly<Record<string, string>>;
  readonly schema: string | object;
}

/** Policies that are held parsed at a time; one that is asked beyond that is parsed again. More than a process has in use. */
export const SLOTS_MAX = 64;

/**
 * Names under which Cedar holds what it has parsed. It never forgets a name, so there are only so many, and what was asked
 * longest ago gives way. Names are this module's alone: another copy of it may talk to the same engine, and would be asked in
 * place of this one's policies.
 */
export class Slots {
  readonly #engine: CedarEngine;
  readonly #spare: string[];
  /** By what stands in them; the one that was asked longest ago first. */
  readonly #held: Map<Prepared, string> = new Map();

  constructor(engine: CedarEngine, max: number = SLOTS_MAX) {
    this.#engine = engine;
    const prefix = `assize-${randomUUID()}`;
    this.#spare = Array.from({ length: max }, (_, i) => `${prefix}-${i}`);
  }

  /** The name under which it can be asked. @throws Error where Cedar does not take what it took before */
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
