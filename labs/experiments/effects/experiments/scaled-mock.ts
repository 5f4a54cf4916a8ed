import type { Table } from '../../tables/index.ts';
import type { Experiment, Running } from '../experiment.ts';
import { measureModes, scaled, under } from '../measure.ts';
import { sixTable } from '../metrics.ts';
import { MODES, type ModeName } from '../modes.ts';
import { PROFILES, type Profile } from '../schedule.ts';
import { ABOUT_WORKLOADS, tasksOf, type WorkloadName } from './mock-workloads.ts';

const RATE = 0.3;
/** Columns of the paper, by their order. */
const IN_PAPER: readonly ModeName[] = ['Tx-Full', 'No-Frontier', 'No-Tx'];

/** Table 5. */
const ROWS: readonly {
  workload: WorkloadName;
  steps: number;
  n: number;
  paper: readonly number[];
}[] = [
  { workload: 'τ-bench', steps: 50, n: 10, paper: [100, 0, 0] },
  { workload: 'OSWorld', steps: 14, n: 9, paper: [78, 0, 0] },
  { workload: 'WebArena', steps: 12, n: 10, paper: [100, 0, 0] },
];

export const scaledMock: Experiment = {
  name: 'scaled',
  about: 'longer tasks in mock environments at fp 0.3 (table 5)',
  run: under(PROFILES, tablesUnder),
};

async function tablesUnder(running: Running, profile: Profile): Promise<Table[]> {
  const measured = await measureModes(
    running,
    MODES,
    ROWS.map(({ workload, steps, n }) => ({
      profile,
      rate: RATE,
      runs: n,
      task: tasksOf(workload, steps),
    })),
  );
  const shared = {
    source: 'Table 5',
    keys: ['workload', 'steps', 'n'],
    notes: [profile.about, `Retry budget 3. Who is told of an error ends. ${ABOUT_WORKLOADS}`],
  };
  const settings = ROWS.map(({ workload, steps, n, paper }, i) => ({
    keys: [workload, steps, scaled(n, running)],
    measured: measured[i]!,
    paper,
  }));
  return [
    {
      ...shared,
      title: `tasks done at fp ${RATE}, ${profile.title}`,
      unit: '%',
      columns: MODES.map(({ name }) => name),
      rows: settings.map(({ keys, measured: of, paper }) => ({
        keys,
        cells: of.map((metrics, m) =>
          metrics.mean('success', paper[IN_PAPER.indexOf(MODES[m]!.name)]),
        ),
      })),
      plot: { sort: 'bar', x: 'workload', y: 'tasks done' },
    },
    sixTable(
      { source: shared.source, keys: shared.keys, title: `at fp ${RATE}, ${profile.title}` },
      MODES,
      settings,
    ),
  ];
}
