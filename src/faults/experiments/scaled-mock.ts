import type { Table } from 'assize/tables';
import type { Experiment, Running } from '../experiment.ts';
import { measureModes, scaled, under } from '../measure.ts';
import { type ModeName, modeOf } from '../modes.ts';
import { PROFILES, type Profile } from '../schedule.ts';
import { ABOUT_WORKLOADS, tasksOf, type WorkloadName } from './mock-workloads.ts';

const RATE = 0.3;
const COMPARED: readonly ModeName[] = ['Tx-Full', 'No-Frontier', 'No-Tx'];

/** Table 5. */
const ROWS: readonly { workload: WorkloadName; steps: number; n: number; paper: readonly number[] }[] = [
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
    COMPARED.map(modeOf),
    ROWS.map(({ workload, steps, n }) => ({ profile, rate: RATE, runs: n, task: tasksOf(workload, steps) })),
  );
  return [
    {
      source: 'Table 5',
      title: `tasks done at fp ${RATE}, ${profile.title}`,
      unit: '%',
      keys: ['workload', 'steps', 'n'],
      columns: COMPARED,
      rows: ROWS.map(({ workload, steps, n, paper }, i) => ({
        keys: [workload, steps, scaled(n, running)],
        cells: measured[i]!.map((metrics, m) => metrics.mean('success', paper[m])),
      })),
      notes: [profile.about, `Retry budget 3. Who is told of an error ends. ${ABOUT_WORKLOADS}`],
    },
  ];
}
