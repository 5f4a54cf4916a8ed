import type { Tool } from 'assize/internal/effects';

/** One call of a tool. */
export interface Step {
  readonly tool: string;
  readonly input: unknown;
}

/** The steps to be done, in order, in the task's own environment. */
export interface Task {
  /** Of the faults that meet it: the same name has the same ones. */
  readonly name: string;
  readonly steps: readonly Step[];
  readonly open: () => Environment | Promise<Environment>;
}

/** Where tools act, with sinks of its own. One task is done in it. */
export interface Environment {
  /** The tools as declared. Faults come between them and their caller. */
  readonly tools: readonly Tool[];
  /** The state that checkpoints contain, not necessarily all of it. */
  snapshot(): unknown;
  restore(snapshot: unknown): void | Promise<void>;
  /**
   * The outcome of the task, read from the sinks' own logs and states. `answers`: the answer that
   * the caller received for each step it reached, undefined for an error.
   */
  judge(answers: readonly unknown[]): TaskVerdict | Promise<TaskVerdict>;
  /** Executes a part of the call's effect. Present if faults can be `torn`. */
  tear?(tool: string, input: unknown, key: string): void | Promise<void>;
  close?(): void | Promise<void>;
}

/** The sink's record of a task (seed 003 §6.1.3). */
export interface TaskVerdict {
  /** All is as it was to be, and there is nothing else. */
  readonly correct: boolean;
  /** Steps with an expected effect. */
  readonly expected: number;
  /** Number of these steps with a present effect, right or wrong. */
  readonly present: number;
  /** Those of them that are there with a wrong value, or more often than they should. */
  readonly wrong: number;
  /** Something was to be seen at some time that was not to stay. */
  readonly contaminated: boolean;
  /** Other counts of the sinks, by name, such as mails that arrived twice. */
  readonly counts?: Readonly<Record<string, number>>;
}
