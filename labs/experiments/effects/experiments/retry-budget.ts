import type { Table } from '../../tables/index.ts';
import type { Experiment, Running } from '../experiment.ts';
import { measureModes, under } from '../measure.ts';
import { sixTable } from '../metrics.ts';
import { MODES, type ModeName } from '../modes.ts';
import { PROFILES, type Profile } from '../schedule.ts';
import { ABOUT_WORKLOADS, tasksOf } from './mock-workloads.ts';

const STEPS = 10;
const RUNS = 30;
const RATE = 0.3;

/** The columns of the paper, in its order. The paper's No-Frontier mode retries in this table. */
const IN_PAPER: readonly ModeName[] = ['Tx-Full', 'Tx-NoFrontier+Retry'];

/** Table 12: success in per cent. It says one figure for 5 and more. */
const ROWS: readonly { retries: number; paper: readonly number[] }[] = [
  { retries: 0, paper: [5, 5] },
  { retries: 1, paper: [95, 80] },
  { retries: 2, paper: [97, 82] },
  { retries: 3, paper: [98, 83] },
  { retries: 5, paper: [99, 83] },
  { retries: 20, paper: [99, 83] },
];

export const retryBudget: Experiment = {
  name: 'retries',
  about: 'how often to try again: budgets of 0 to 20 at fp 0.3 (table 12)',
  run: under(PROFILES, tablesUnder),
};

async function tablesUnder(running: Running, profile: Profile): Promise<Table[]> {
  const measured = await measureModes(
    running,
    MODES,
    ROWS.map(({ retries }) => ({
      profile,
      rate: RATE,
      runs: RUNS,
      retries,
      task: tasksOf('WebArena', STEPS),
    })),
  );
  const shared = {
    source: 'Table 12',
    keys: ['retries'],
    notes: [
      profile.about,
      `${measured[0]![0]!.runs} tasks of ${STEPS} steps. Who is told of an error ends. Of exceptions alone a step is done with a chance of 1 - fp^(retries + 1), so with one retry ten are with 39 %; the paper’s figures for one retry are above that. ${ABOUT_WORKLOADS}`,
      'The paper has one figure for five and more. What it calls No-Frontier here is tried again, so its figures stand beside Tx-NoFrontier+Retry. No-Frontier and No-Tx have no budget, and run again in each row.',
    ],
  };
  return [
    {
      ...shared,
      title: `tasks done at fp ${RATE} by retry budget, ${profile.title}`,
      unit: '%',
      columns: MODES.map(({ name }) => name),
      rows: ROWS.map(({ retries, paper }, i) => ({
        keys: [retries],
        cells: measured[i]!.map((metrics, m) =>
          metrics.mean('success', paper[IN_PAPER.indexOf(MODES[m]!.name)]),
        ),
      })),
      plot: { sort: 'line', x: 'retries', y: 'tasks done' },
    },
    sixTable(
      { source: shared.source, keys: shared.keys, title: `at fp ${RATE}, ${profile.title}` },
      MODES,
      ROWS.map(({ retries }, i) => ({ keys: [retries], measured: measured[i]! })),
    ),
  ];
}
