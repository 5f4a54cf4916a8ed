import type { Table } from 'assize/tables';
import type { Experiment, Running } from '../experiment.ts';
import { measureModes, under } from '../measure.ts';
import { modeOf } from '../modes.ts';
import { PROFILES, type Profile } from '../schedule.ts';
import { ABOUT_WORKLOADS, tasksOf } from './mock-workloads.ts';

const STEPS = 10;
const RUNS = 30;
const RATE = 0.3;

/** Table 12: success in per cent, of Tx-Full and No-Frontier. It says one figure for 5 and more. */
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
    [modeOf('Tx-Full'), modeOf('Tx-NoFrontier+Retry')],
    ROWS.map(({ retries }) => ({ profile, rate: RATE, runs: RUNS, retries, task: tasksOf('WebArena', STEPS) })),
  );
  return [
    {
      source: 'Table 12',
      title: `tasks done at fp ${RATE} by retry budget, ${profile.title}`,
      unit: '%',
      keys: ['retries'],
      columns: ['Tx-Full', 'No-Frontier, tried again'],
      rows: ROWS.map(({ retries, paper }, i) => ({
        keys: [retries],
        cells: measured[i]!.map((metrics, m) => metrics.mean('success', paper[m])),
      })),
      notes: [
        profile.about,
        `${measured[0]![0]!.runs} tasks of ${STEPS} steps. Who is told of an error ends. Of exceptions alone a step is done with a chance of 1 - fp^(retries + 1), so with one retry ten are with 39 %; the paper’s figures for one retry are above that. ${ABOUT_WORKLOADS}`,
      ],
      plot: { sort: 'line', x: 'retries', y: 'tasks done' },
    },
  ];
}
