import { type Cell, partOf, type Table, yieldToEventLoop } from '../tables/index.ts';
import type { Running } from './experiment.ts';
import { Metrics } from './metrics.ts';
import type { Mode } from './modes.ts';
import { runTask, type TaskOptions } from './run-task.ts';
import { type Profile, scheduleOf } from './schedule.ts';
import type { Task } from './task.ts';

/** Tasks that are done alike. */
export interface Plan extends Pick<TaskOptions, 'retries' | 'onError' | 'tries'> {
  readonly mode: Mode;
  readonly profile: Profile;
  /** Of all calls, how many are hit, from 0 to 1. */
  readonly rate: number;
  /** How many the paper has; fewer by the scale, never none. */
  readonly runs: number;
  /**
   * The task of a run, from 0. Its name decides its faults, so the name contains the workload and
   * the run, and never the mode.
   */
  readonly task: (run: number) => Task;
}

/** Executes the plans one after the other and returns the result of each plan. */
export async function measure(running: Running, plans: readonly Plan[]): Promise<Metrics[]> {
  const all = plans.reduce((sum, { runs }) => sum + scaled(runs, running), 0);
  const measured: Metrics[] = [];
  let done = 0;
  for (const { mode, profile, rate, runs, task, ...options } of plans) {
    const schedule = scheduleOf({ seed: running.seed, rate, kinds: profile.kinds(mode) });
    const metrics = new Metrics(running.seed);
    for (let run = 0; run < scaled(runs, running); run++) {
      await yieldToEventLoop(running);
      metrics.add(await runTask(task(run), { mode, schedule, ...options }));
      running.progress(++done, all);
    }
    measured.push(metrics);
  }
  return measured;
}

/** Executes each setting in each mode and returns the results, by setting and mode. */
export async function measureModes(
  running: Running,
  modes: readonly Mode[],
  settings: readonly Omit<Plan, 'mode'>[],
): Promise<Metrics[][]> {
  const plans = settings.flatMap((setting) => modes.map((mode) => ({ ...setting, mode })));
  const measured = await measure(running, plans);
  return settings.map((_, i) => measured.slice(i * modes.length, (i + 1) * modes.length));
}

/** An experiment that is run under each of the profiles, one after the other. */
export function under(
  profiles: readonly Profile[],
  run: (running: Running, profile: Profile) => Promise<readonly Table[]>,
): (running: Running) => Promise<readonly Table[]> {
  return async (running) => {
    const tables: Table[] = [];
    for (const [i, profile] of profiles.entries())
      tables.push(...(await run(partOf(running, i, profiles.length), profile)));
    return tables;
  };
}

/** A count that the paper prints stands beside one of as many runs, and beside no other. */
export function paperCount<Count extends Cell['paper']>(
  count: Count,
  { scale }: Pick<Running, 'scale'>,
): Count | undefined {
  return scale === 1 ? count : undefined;
}

/** The number of runs that fit the time. */
export function scaled(runs: number, { scale }: Pick<Running, 'scale'>): number {
  return Math.max(1, Math.round(runs * scale));
}
