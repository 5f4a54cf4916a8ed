import type { Experiment } from '../experiment.ts';
import { ablation } from './ablation.ts';
import { aliasing } from './aliasing.ts';
import { annotations } from './annotations.ts';
import { baselines } from './baselines.ts';
import { branches } from './branches.ts';
import { compensation } from './compensation.ts';
import { contention } from './contention.ts';
import { correlated } from './correlated.ts';
import { crashWindows, crashWindowsPostgres } from './crash-windows.ts';
import { gate } from './gate.ts';
import { mock } from './mock.ts';
import { modelRuns } from './model-runs.ts';
import { multiRate } from './multi-rate.ts';
import { overhead } from './overhead.ts';
import { recovery } from './recovery.ts';
import { retryBudget } from './retry-budget.ts';
import { sanity } from './sanity.ts';
import { scaledMock } from './scaled-mock.ts';
import { speculation } from './speculation.ts';
import { realTasks } from './tasks.ts';

/** In the order of the paper; then what the paper has not. */
export const EXPERIMENTS: readonly Experiment[] = [
  speculation,
  mock,
  scaledMock,
  branches,
  recovery,
  ablation,
  sanity,
  contention,
  baselines,
  gate,
  multiRate,
  retryBudget,
  overhead,
  realTasks,
  modelRuns,
  aliasing,
  compensation,
  correlated,
  annotations,
  crashWindows,
  crashWindowsPostgres,
];
