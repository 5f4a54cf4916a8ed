import type { Cell, Table } from 'assize/tables';
import type { Experiment, Running } from '../experiment.ts';
import { measureModes, under } from '../measure.ts';
import type { MetricName } from '../metrics.ts';
import { type ModeName, modeOf } from '../modes.ts';
import { PROFILES, type Profile } from '../schedule.ts';
import { ABOUT_WORKLOADS, tasksOf, type WorkloadName } from './mock-workloads.ts';

const STEPS = 10;
const RUNS = 100;
const RATES = [0.1, 0.3, 0.5];
const COMPARED: readonly ModeName[] = ['Tx-Full', 'CR', 'No-Frontier', 'No-Tx'];

/** Table 4: success in per cent, by rate and mode. */
const PAPER: Partial<Record<WorkloadName, readonly (readonly number[])[]>> = {
  WebArena: [
    [100, 36, 26, 26],
    [92, 2, 2, 6],
    [58, 0, 0, 0],
  ],
  OSWorld: [
    [100, 100, 23, 30],
    [100, 100, 1, 2],
    [100, 100, 0, 0],
  ],
};

export const mock: Experiment = {
  name: 'mock',
  about: 'tasks of ten steps in mock environments, by fault rate and mode (table 4)',
  run: under(PROFILES, tablesUnder),
};

async function tablesUnder(running: Running, profile: Profile): Promise<Table[]> {
  const settings = (Object.keys(PAPER) as WorkloadName[]).flatMap((workload) =>
    RATES.map((rate, r) => ({ workload, rate, paper: PAPER[workload]![r]! })),
  );
  const measured = await measureModes(
    running,
    COMPARED.map(modeOf),
    settings.map(({ workload, rate }) => ({ profile, rate, runs: RUNS, task: tasksOf(workload, STEPS) })),
  );
  const tableOf = (
    metric: MetricName,
    title: string,
    paperOf: (row: readonly number[], mode: number) => Cell['paper'],
  ): Table => ({
    source: 'Table 4',
    title: `${title}, ${profile.title}`,
    unit: '%',
    keys: ['workload', 'fp'],
    columns: COMPARED,
    rows: settings.map(({ workload, rate, paper }, i) => ({
      keys: [workload, rate],
      cells: measured[i]!.map((metrics, m) => metrics.mean(metric, paperOf(paper, m))),
    })),
    notes: [
      profile.about,
      `${measured[0]![0]!.runs} runs a cell of ${STEPS} steps, retry budget 3. Who is told of an error ends. ${ABOUT_WORKLOADS}`,
    ],
    plot: { sort: 'line', x: 'fp', y: title },
  });
  return [
    tableOf('success', 'tasks done', (paper, mode) => paper[mode]),
    tableOf('correct', 'correct states', () => undefined),
  ];
}
