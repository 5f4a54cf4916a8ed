import { declareTool, type Tool } from 'assize/internal/effects';
import { z } from 'zod';
import type { Environment, Step, Task, TaskVerdict } from '../task.ts';

/**
 * The extent of an app's checkpoint: everything, as of a virtual machine, or only the client's
 * state, as of a browser.
 */
export type Checkpoint = 'all' | 'client';

export interface MockOptions {
  readonly steps: number;
  readonly checkpoint: Checkpoint;
}

/**
 * A task in an app that stands for the apps of the paper (A.3): it fills in fields and submits
 * rows, in turns. Filling in a field again is harmless; submitting a row again is not. No model is
 * asked, so only faults can prevent its success.
 */
export function mockTask(name: string, { steps, checkpoint }: MockOptions): Task {
  const list = Array.from(
    { length: steps },
    (_, i): Step =>
      i % 2 === 0
        ? { tool: 'app.fill', input: { name: `field ${i}`, value: `value ${i}` } }
        : { tool: 'app.submit', input: { row: `row ${i}` } },
  );
  return { name, steps: list, open: () => new MockApp(list, checkpoint) };
}

interface Field {
  readonly value: string;
  readonly key: string;
}

interface Row {
  readonly row: string;
  readonly key: string;
}

// Created once for all instances: the schema compiles its input check.
const FILLED = z.strictObject({ name: z.string(), value: z.string() });
const SUBMITTED = z.strictObject({ row: z.string() });

export class MockApp implements Environment {
  readonly tools: readonly Tool[];
  readonly #steps: readonly Step[];
  readonly #checkpoint: Checkpoint;
  /** The client's. */
  #fields = new Map<string, Field>();
  /** The server's. */
  #rows: readonly Row[] = [];
  /** How often something was taken back that was to be seen before. */
  #takenBack = 0;

  constructor(steps: readonly Step[], checkpoint: Checkpoint) {
    this.#steps = steps;
    this.#checkpoint = checkpoint;
    this.tools = [this.#fill(), this.#submit()];
  }

  snapshot(): unknown {
    return { fields: new Map(this.#fields), rows: this.#rows };
  }

  restore(snapshot: unknown): void {
    const { fields, rows } = snapshot as { fields: Map<string, Field>; rows: readonly Row[] };
    const isAll = this.#checkpoint === 'all';
    if (fields.size !== this.#fields.size || (isAll && rows.length !== this.#rows.length))
      this.#takenBack++;
    this.#fields = fields;
    if (isAll) this.#rows = rows;
  }

  judge(): TaskVerdict {
    const times = this.#steps.map(({ tool, input }) => this.#timesOf(tool, input as never));
    const present = times.filter((count) => count > 0).length;
    const wrong = times.filter((count) => count > 1).length;
    const { length: expected } = this.#steps;
    const surplus =
      this.#fields.size + this.#rows.length - times.reduce((sum, count) => sum + count, 0);
    return {
      correct: present === expected && wrong === 0 && surplus === 0,
      expected,
      present,
      wrong,
      contaminated: this.#takenBack > 0,
    };
  }

  /** How often what a step was to do is there. */
  #timesOf(tool: string, input: { name: string; value: string; row: string }): number {
    if (tool === 'app.fill') return this.#fields.get(input.name)?.value === input.value ? 1 : 0;
    return this.#rows.filter(({ row }) => row === input.row).length;
  }

  #fill(): Tool {
    return declareTool({
      name: 'app.fill',
      input: FILLED,
      class: { reversibility: 'reversible', delivery: 'externalised', sink: 'queryable' },
      writes: ({ name }) => [`app:fields:${name.replaceAll(' ', '-')}`],
      execute: ({ name, value }, { key }) => {
        this.#fields.set(name, { value, key });
        return null;
      },
      compensate: ({ name }, _result, { key }) => {
        if (this.#fields.get(name)?.key === key) {
          this.#fields.delete(name);
          this.#takenBack++;
        }
        return { undone: 'all' };
      },
      reconcile: ({ name }, { key }) =>
        this.#fields.get(name)?.key === key
          ? { happened: true, result: null }
          : { happened: false },
    });
  }

  #submit(): Tool {
    return declareTool({
      name: 'app.submit',
      input: SUBMITTED,
      class: { reversibility: 'reversible', delivery: 'externalised', sink: 'queryable' },
      writes: ({ row }) => [`app:rows:${row.replaceAll(' ', '-')}`],
      execute: ({ row }, { key }) => {
        this.#rows = [...this.#rows, { row, key }];
        return null;
      },
      compensate: (_input, _result, { key }) => {
        const rows = this.#rows.filter((each) => each.key !== key);
        if (rows.length !== this.#rows.length) this.#takenBack++;
        this.#rows = rows;
        return { undone: 'all' };
      },
      reconcile: (_input, { key }) =>
        this.#rows.some((each) => each.key === key)
          ? { happened: true, result: null }
          : { happened: false },
    });
  }
}
