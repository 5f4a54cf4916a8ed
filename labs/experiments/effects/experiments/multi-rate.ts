import type { Table } from '../../tables/index.ts';
import type { Experiment, Running } from '../experiment.ts';
import { measureModes, scaled, under } from '../measure.ts';
import { sixTable } from '../metrics.ts';
import { MODES, type ModeName } from '../modes.ts';
import { PROFILES, type Profile } from '../schedule.ts';
import { ABOUT_WORKLOADS, tasksOf, type WorkloadName } from './mock-workloads.ts';

/** The approximate values of the paper's tasks (§6.2). */
const STEPS = 30;
const RATES = [0.05, 0.1, 0.3];
/** Columns of the paper, by their order. */
const IN_PAPER: readonly ModeName[] = ['Tx-Full', 'No-Frontier', 'No-Tx'];

/** Table 11: success in per cent, by rate and mode. */
const PAPER: readonly {
  workload: WorkloadName;
  n: number;
  success: readonly (readonly number[])[];
}[] = [
  {
    workload: 'OSWorld',
    n: 7,
    success: [
      [71, 14, 0],
      [71, 0, 0],
      [14, 0, 0],
    ],
  },
  {
    workload: 'WebArena',
    n: 10,
    success: [
      [60, 10, 0],
      [50, 0, 10],
      [60, 0, 0],
    ],
  },
];

export const multiRate: Experiment = {
  name: 'rates',
  about: 'tasks of thirty steps at lower fault rates (table 11)',
  run: under(PROFILES, tablesUnder),
};

async function tablesUnder(running: Running, profile: Profile): Promise<Table[]> {
  const settings = PAPER.flatMap(({ workload, n, success }) =>
    RATES.map((rate, r) => ({ workload, n, rate, paper: success[r]! })),
  );
  const measured = await measureModes(
    running,
    MODES,
    settings.map(({ workload, n, rate }) => ({
      profile,
      rate,
      runs: n,
      task: tasksOf(workload, STEPS),
    })),
  );
  const shared = {
    source: 'Table 11',
    keys: ['workload', 'n', 'fp'],
    notes: [
      profile.about,
      `Retry budget 3. Who is told of an error ends. ${ABOUT_WORKLOADS} The paper’s are real, with a model that fails at some by itself.`,
    ],
  };
  const rows = settings.map(({ workload, n, rate, paper }, i) => ({
    keys: [workload, scaled(n, running), rate],
    measured: measured[i]!,
    paper,
  }));
  return [
    {
      ...shared,
      title: `tasks of ${STEPS} steps done, ${profile.title}`,
      unit: '%',
      columns: MODES.map(({ name }) => name),
      rows: rows.map(({ keys, measured: of, paper }) => ({
        keys,
        cells: of.map((metrics, m) =>
          metrics.mean('success', paper[IN_PAPER.indexOf(MODES[m]!.name)]),
        ),
      })),
      plot: { sort: 'line', x: 'fp', y: 'tasks done' },
    },
    sixTable(
      { source: shared.source, keys: shared.keys, title: `of ${STEPS} steps, ${profile.title}` },
      MODES,
      rows,
    ),
  ];
}
