import { declareTool, type Tool } from 'assize/internal/effects';
import { z } from 'zod';
import type { Environment, Task, TaskVerdict } from '../task.ts';

/** The value of a register: written as a whole, or cut off in the middle. */
interface Register {
  readonly value: string;
  readonly isWhole: boolean;
  readonly key: string;
}

/** One thing that was done to the registers, in the order in which it was done. */
interface Done {
  readonly did: 'write' | 'tear' | 'clear' | 'put back';
  readonly name: string;
}

/**
 * The state-update task of seed 003 (§6.1.2, A.6): `count` registers, each to be written once, in
 * order. A checkpoint covers all of them.
 */
export function registersTask(name: string, count: number): Task {
  return {
    name,
    steps: Array.from({ length: count }, (_, i) => ({
      tool: 'registers.write',
      input: { name: `r${i}`, value: `v${i}` },
    })),
    open: () => new Registers(count),
  };
}

// Created once for all instances: the schema compiles its input check.
const WRITTEN = z.strictObject({ name: z.string(), value: z.string() });

export class Registers implements Environment {
  readonly tools: readonly Tool[];
  readonly #count: number;
  #registers = new Map<string, Register>();
  readonly log: Done[] = [];

  constructor(count: number) {
    this.#count = count;
    this.tools = [this.#write()];
  }

  snapshot(): unknown {
    return new Map(this.#registers);
  }

  restore(snapshot: unknown): void {
    for (const name of this.#registers.keys())
      if (this.#registers.get(name) !== (snapshot as Map<string, Register>).get(name))
        this.log.push({ did: 'put back', name });
    this.#registers = new Map(snapshot as Map<string, Register>);
  }

  tear(_tool: string, input: unknown, key: string): void {
    const { name, value } = input as { name: string; value: string };
    this.log.push({ did: 'tear', name });
    this.#registers.set(name, { value: value.slice(0, -1), isWhole: false, key });
  }

  judge(): TaskVerdict {
    const found = Array.from(
      { length: this.#count },
      (_, i) => this.#registers.get(`r${i}`)?.value,
    );
    const present = found.filter((value) => value !== undefined).length;
    const wrong = found.filter((value, i) => value !== undefined && value !== `v${i}`).length;
    return {
      correct: present === this.#count && wrong === 0 && this.#registers.size === this.#count,
      expected: this.#count,
      present,
      wrong,
      contaminated: this.log.some(({ did }) => did !== 'write'),
    };
  }

  #write(): Tool {
    return declareTool({
      name: 'registers.write',
      input: WRITTEN,
      class: { reversibility: 'reversible', delivery: 'externalised', sink: 'queryable' },
      writes: ['register:{name}'],
      execute: ({ name, value }, { key }) => {
        this.#registers.set(name, { value, isWhole: true, key });
        this.log.push({ did: 'write', name });
        return null;
      },
      compensate: ({ name }, _result, { key }) => {
        this.#clear(name, key);
        return { undone: 'all' };
      },
      // Clears a torn write before it reports that the write did not happen: half of a write does
      // not count.
      reconcile: ({ name }, { key }) => {
        const register = this.#registers.get(name);
        if (register?.key === key && register.isWhole) return { happened: true, result: null };
        this.#clear(name, key);
        return { happened: false };
      },
    });
  }

  #clear(name: string, key: string): void {
    if (this.#registers.get(name)?.key !== key) return;
    this.#registers.delete(name);
    this.log.push({ did: 'clear', name });
  }
}
