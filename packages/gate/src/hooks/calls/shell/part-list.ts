import type { Json } from 'assize/internal/base';
import type { CallPart } from '#calls';

const PARTS_MAX = 64;
/** Visited nodes of syntax trees. Loops are visited twice, so nested loops multiply. */
const STEPS_MAX = 20_000;

/** The parts of one command, each once. */
export class PartList {
  readonly #parts = new Map<string, CallPart>();
  #steps = 0;
  #failed = false;

  /** Undefined if the command cannot be read, or has too many parts. */
  result(): readonly CallPart[] | undefined {
    return this.#failed || this.#parts.size > PARTS_MAX ? undefined : [...this.#parts.values()];
  }

  /** The whole command counts as not readable. */
  fail(): void {
    this.#failed = true;
  }

  /** Counts the visit of a node. False: no further node needs a visit. */
  step(): boolean {
    if (++this.#steps > STEPS_MAX || this.#parts.size > PARTS_MAX) this.fail();
    return !this.#failed;
  }

  add(server: string, tool: string, args: { readonly [name: string]: Json }): void {
    const part = { server, tool, args };
    this.#parts.set(JSON.stringify(part), part);
  }

  /** A text whose effect is only known while it runs. */
  dynamic(text: string): void {
    this.add('shell', 'dynamic', { text });
  }
}
