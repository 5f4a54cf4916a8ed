import type { Tool } from 'assize/internal/effects';

/** One call of a tool. */
export interface Step {
  readonly tool: string;
  readonly input: unknown;
}

/** What is to be done, in order, in an environment of its own. */
export interface Task {
  /** Of the faults that meet it: the same name has the same ones. */
  readonly name: string;
  readonly steps: readonly Step[];
  readonly open: () => Environment | Promise<Environment>;
}

/** Where tools act, with sinks of its own. One task is done in it. */
export interface Environment {
  /** As they are declared; faults come between them and who calls. */
  readonly tools: readonly Tool[];
  /** What checkpoints have of it, which need not be all. */
  snapshot(): unknown;
  restore(snapshot: unknown): void | Promise<void>;
  /**
   * What became of the task, read off the sinks' own logs and states. `answers`: what the caller was told of each step that it came
   * to, undefined for an error.
   */
  judge(answers: readonly unknown[]): TaskVerdict | Promise<TaskVerdict>;
  /** Does a part of what the call would do: where faults may be `torn`. */
  tear?(tool: string, input: unknown, key: string): void | Promise<void>;
  close?(): void | Promise<void>;
}

/** The sink's record of a task (seed 003 §6.1.3). */
export interface TaskVerdict {
  /** All is as it was to be, and there is nothing else. */
  readonly correct: boolean;
  /** Steps with an expected effect. */
  readonly expected: number;
  /** Those of them whose effect is there, right or wrong. */
  readonly present: number;
  /** Those of them that are there with a wrong value, or more often than they should. */
  readonly wrong: number;
  /** Something was to be seen at some time that was not to stay. */
  readonly contaminated: boolean;
  /** What else the sinks count, by its name: mails that came twice. */
  readonly counts?: Readonly<Record<string, number>>;
}
