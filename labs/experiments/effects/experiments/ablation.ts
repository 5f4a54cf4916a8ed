import type { Table } from '../../tables/index.ts';
import type { Experiment, Running } from '../experiment.ts';
import { measureModes, paperCount, under } from '../measure.ts';
import { sixTable } from '../metrics.ts';
import { MODES, type ModeName } from '../modes.ts';
import { PROFILES, type Profile } from '../schedule.ts';
import { ABOUT_WORKLOADS, tasksOf } from './mock-workloads.ts';

const STEPS = 10;
const RUNS = 30;
const RATE = 0.3;

/** Table 7: success in per cent, and faults. */
const PAPER: Readonly<Record<ModeName, { readonly success: number; readonly faults: number }>> = {
  'Tx-Full': { success: 90, faults: 121 },
  'Tx-NoFrontier+Retry': { success: 93, faults: 108 },
  'No-Frontier': { success: 0, faults: 30 },
  'No-Tx': { success: 3, faults: 29 },
  CR: { success: 0, faults: 30 },
};

export const ablation: Experiment = {
  name: 'ablation',
  about: 'what retry is worth without a frontier, and the frontier without conflicts (table 7)',
  run: under(PROFILES, tablesUnder),
};

async function tablesUnder(running: Running, profile: Profile): Promise<Table[]> {
  const [measured] = await measureModes(running, MODES, [
    { profile, rate: RATE, runs: RUNS, task: tasksOf('WebArena', STEPS) },
  ]);
  const source = 'Table 7';
  const notes = [
    profile.about,
    `${measured![0]!.runs} tasks of ${STEPS} steps, retry budget 3. Who is told of an error ends. The paper’s CR has met one fault a task, so it was not tried again there; ours is. ${ABOUT_WORKLOADS}`,
  ];
  return [
    {
      source,
      title: `retry and frontier at fp ${RATE}, ${profile.title}`,
      keys: ['mode'],
      columns: ['success (%)', 'faults', 'retries', 'steps recovered', 'errors told'],
      rows: MODES.map(({ name }, m) => {
        const metrics = measured![m]!;
        return {
          keys: [name],
          cells: [
            metrics.mean('success', PAPER[name].success),
            metrics.total('faults', paperCount(PAPER[name].faults, running)),
            metrics.total('retries'),
            metrics.total('recovered'),
            metrics.total('propagated'),
          ],
        };
      }),
      notes,
      plot: { sort: 'bar', x: 'mode', y: 'tasks done, %', columns: ['success (%)'] },
    },
    sixTable({ source, title: `at fp ${RATE}, ${profile.title}`, keys: [] }, MODES, [
      { keys: [], measured: measured! },
    ]),
  ];
}
