import type { Cell, Table } from '../../tables/index.ts';
import type { Experiment, Running } from '../experiment.ts';
import { measureModes, under } from '../measure.ts';
import { type MetricName, sixTable } from '../metrics.ts';
import { MODES, type ModeName } from '../modes.ts';
import { PROFILES, type Profile } from '../schedule.ts';
import { ABOUT_WORKLOADS, tasksOf, type WorkloadName } from './mock-workloads.ts';

const STEPS = 10;
const RUNS = 100;
const RATES = [0.1, 0.3, 0.5];
/** Columns of the paper, by their order. */
const IN_PAPER: readonly ModeName[] = ['Tx-Full', 'CR', 'No-Frontier', 'No-Tx'];

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
    MODES,
    settings.map(({ workload, rate }) => ({
      profile,
      rate,
      runs: RUNS,
      task: tasksOf(workload, STEPS),
    })),
  );
  const shared = {
    source: 'Table 4',
    keys: ['workload', 'fp'],
    notes: [
      profile.about,
      `${measured[0]![0]!.runs} runs a cell of ${STEPS} steps, retry budget 3. Who is told of an error ends. ${ABOUT_WORKLOADS}`,
    ],
  };
  const tableOf = (
    metric: MetricName,
    title: string,
    paperOf: (row: readonly number[], mode: ModeName) => Cell['paper'],
  ): Table => ({
    ...shared,
    title: `${title}, ${profile.title}`,
    unit: '%',
    columns: MODES.map(({ name }) => name),
    rows: settings.map(({ workload, rate, paper }, i) => ({
      keys: [workload, rate],
      cells: measured[i]!.map((metrics, m) => metrics.mean(metric, paperOf(paper, MODES[m]!.name))),
    })),
    plot: { sort: 'line', x: 'fp', y: title },
  });
  return [
    tableOf('success', 'tasks done', (paper, mode) => paper[IN_PAPER.indexOf(mode)]),
    tableOf('correct', 'correct states', () => undefined),
    sixTable(
      { source: shared.source, keys: shared.keys, title: profile.title },
      MODES,
      settings.map(({ workload, rate }, i) => ({ keys: [workload, rate], measured: measured[i]! })),
    ),
  ];
}
