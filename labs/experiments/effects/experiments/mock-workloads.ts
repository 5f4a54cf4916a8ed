import { type MockOptions, mockTask } from '../environments/mock-app.ts';
import type { Task } from '../task.ts';

/**
 * The workloads of the paper that an app in memory stands for, by the extent of their checkpoints
 * (§6.2).
 */
export const WORKLOADS = {
  /** Of WebArena it is the browser, and not the server behind it. */
  WebArena: { checkpoint: 'client' },
  /** Of OSWorld it is the whole virtual machine. */
  OSWorld: { checkpoint: 'all' },
  /** Of τ-bench it is the environment in Python, in which all is. */
  'τ-bench': { checkpoint: 'all' },
} as const satisfies Record<string, Pick<MockOptions, 'checkpoint'>>;

export type WorkloadName = keyof typeof WORKLOADS;

/** For the notes of their tables. */
export const ABOUT_WORKLOADS =
  'The workloads are stood for by an app in memory, and no model is asked. A checkpoint has all of it but for WebArena, where it has the browser alone.';

/** The tasks of a workload, by run. */
export function tasksOf(workload: WorkloadName, steps: number): (run: number) => Task {
  return (run) => mockTask(`${workload} ${run}`, { ...WORKLOADS[workload], steps });
}
