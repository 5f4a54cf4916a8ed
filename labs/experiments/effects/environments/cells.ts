import { declareTool, type Tool } from 'assize/internal/effects';
import { z } from 'zod';

/** One write, in the order of all. */
interface Written {
  readonly name: string;
  readonly value: number;
}

// Created once for all instances: the schema compiles its input check.
const PLACE = z.strictObject({ name: z.string() });
const CHANGE = z.strictObject({ name: z.string(), value: z.number() });

/**
 * Numbers by name that agents share, and a log of all writes to them. A name without a write has
 * the value 0.
 */
export class Cells {
  readonly tools: readonly Tool[];
  readonly log: Written[] = [];
  readonly #cells = new Map<string, number>();
  readonly #way: () => Promise<void>;

  /** `way`: how long a call is on its way there. */
  constructor(way: () => Promise<void> = async () => {}) {
    this.#way = way;
    this.tools = [this.#get(), this.#set()];
  }

  value(name: string): number {
    return this.#cells.get(name) ?? 0;
  }

  snapshot(): unknown {
    return new Map(this.#cells);
  }

  #get(): Tool {
    return declareTool({
      name: 'cells.get',
      input: PLACE,
      class: 'read',
      reads: ['cell:{name}'],
      execute: async ({ name }) => {
        await this.#way();
        return this.value(name);
      },
    });
  }

  #set(): Tool {
    return declareTool({
      name: 'cells.set',
      input: CHANGE,
      class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
      writes: ['cell:{name}'],
      execute: async ({ name, value }) => {
        await this.#way();
        this.#cells.set(name, value);
        this.log.push({ name, value });
        return null;
      },
      uncompensated: 'the next write replaces it',
    });
  }
}
