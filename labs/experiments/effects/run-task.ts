import type { Tool } from 'assize/internal/effects';
import { type Caller, callerIn, toolNamed } from './callers.ts';
import { withFaults } from './faulty.ts';
import type { Mode } from './modes.ts';
import type { Fault, Schedule } from './schedule.ts';
import type { Task, TaskVerdict } from './task.ts';

export interface TaskOptions {
  readonly mode: Mode;
  /** A protection that is not a mode of the runtime, in place of the mode. */
  readonly callerOf?: (tools: readonly Tool[]) => Caller;
  readonly schedule: Schedule;
  /** How often a step is tried again, where the mode does. Default 3. */
  readonly retries?: number;
  /** The agent's reaction to an error. Default: it ends there. */
  readonly onError?: 'end' | 'go on';
  /** The runtime's attempts per effect, if the mode retries. Default: the runtime's own number. */
  readonly tries?: number | undefined;
}

/** The result of a task: the answers to its caller, and the state of its sinks. */
export interface TaskResult {
  readonly steps: number;
  /** All steps were done, as the caller learned. */
  readonly success: boolean;
  /** Calls that were hit. */
  readonly faults: number;
  readonly retries: number;
  /** Steps that were hit and done in the end. */
  readonly recovered: number;
  /** Errors that the caller learned of. */
  readonly propagated: number;
  /** Steps with something that waits for a person. */
  readonly waiting: number;
  readonly judged: TaskVerdict;
}

/**
 * Does a task in its own environment. Errors that its tools throw count as faults, and are in the
 * result.
 *
 * @throws TypeError for a step with a missing tool, or for a `torn` fault without a part;
 * EffectError `bad_input`
 */
export async function runTask(task: Task, options: TaskOptions): Promise<TaskResult> {
  const environment = await task.open();
  try {
    for (const { tool, input } of task.steps) toolNamed(environment.tools, tool).parse(input);
    const faults = new StepFaults(task, options.schedule);
    const tools = withFaults(
      environment.tools,
      () => faults.next(),
      async ({ tool, input, key }) => {
        if (environment.tear === undefined)
          faults.misuse = `${task.name}: what a part of ${tool} is, its environment does not say`;
        await environment.tear?.(tool, input, key);
      },
    );
    const { mode, callerOf, retries, tries } = options;
    const caller =
      callerOf?.(tools) ?? (await callerIn(mode, environment, tools, { retries, tries }));
    try {
      const { answers, ...told } = await doSteps(task, caller, faults, options.onError);
      return { steps: task.steps.length, ...told, judged: await environment.judge(answers) };
    } finally {
      await caller.close();
    }
  } finally {
    await environment.close?.();
  }
}

async function doSteps(
  { steps }: Task,
  caller: Caller,
  faults: StepFaults,
  onError: TaskOptions['onError'] = 'end',
): Promise<Omit<TaskResult, 'steps' | 'judged'> & { readonly answers: readonly unknown[] }> {
  const answers: unknown[] = [];
  let [done, retries, recovered, propagated, waiting] = [0, 0, 0, 0, 0];
  for (const [n, step] of steps.entries()) {
    faults.begin(n);
    const told = await caller.step(n, step);
    if (faults.misuse !== undefined) throw new TypeError(faults.misuse);
    retries += told.retries;
    if (told.waits) waiting++;
    answers.push(told.answer);
    if (told.error === undefined) {
      done++;
      if (faults.hitsOfStep > 0) recovered++;
    } else {
      propagated++;
      if (onError === 'end') break;
    }
  }
  const success = done === steps.length;
  return { success, faults: faults.hits, retries, recovered, propagated, waiting, answers };
}

/** The fault that the next call meets, by the running step and its next try. */
class StepFaults {
  readonly #task: Task;
  readonly #schedule: Schedule;
  #step = 0;
  #attempt = 0;
  hits = 0;
  hitsOfStep = 0;
  /**
   * The caller treats every error of a tool as a fault, so the runner of the task throws this
   * error.
   */
  misuse: string | undefined;

  constructor(task: Task, schedule: Schedule) {
    this.#task = task;
    this.#schedule = schedule;
  }

  begin(step: number): void {
    this.#step = step;
    this.#attempt = 0;
    this.hitsOfStep = 0;
  }

  next(): Fault {
    const fault = this.#schedule(this.#task.name, this.#step, this.#attempt++);
    if (fault !== 'none') {
      this.hits++;
      this.hitsOfStep++;
    }
    return fault;
  }
}
