import type { Table } from '../../tables/index.ts';
import type { Experiment, Running } from '../experiment.ts';
import { measureModes } from '../measure.ts';
import { sixTable } from '../metrics.ts';
import { MODES, type ModeName } from '../modes.ts';
import { BOTH, PROFILES } from '../schedule.ts';
import { ABOUT_WORKLOADS, tasksOf } from './mock-workloads.ts';

const TASKS = 6;
const RATES = [0, 0.3];

/** Table 8: success in per cent, by rate. */
const PAPER: Partial<Record<ModeName, readonly number[]>> = {
  'Tx-Full': [100, 100],
  'No-Frontier': [100, 67],
  'No-Tx': [100, 50],
};

export const sanity: Experiment = {
  name: 'sanity',
  about: 'six short tasks without faults, in which no mode may fail, and with them (table 8)',
  run: async (running: Running): Promise<Table[]> => {
    const settings = PROFILES.flatMap((profile) =>
      RATES.filter((rate) => rate > 0 || profile === BOTH).map((rate) => ({ profile, rate })),
    );
    const measured = await measureModes(
      running,
      MODES,
      // The first has one step, the next has two, and so on; those after the last start over.
      settings.map((setting) => ({
        ...setting,
        runs: TASKS,
        task: (run) => tasksOf('WebArena', (run % TASKS) + 1)(run),
      })),
    );
    const source = 'Table 8';
    const columns = settings.map(({ rate, profile }) =>
      rate === 0 ? 'no faults' : `fp ${rate}, ${profile.title}`,
    );
    const { runs } = measured[0]![0]!;
    const tasks = runs === 1 ? '1 task' : `${runs} tasks`;
    const notes = [`${tasks} of 1 to ${TASKS} steps, retry budget 3. ${ABOUT_WORKLOADS}`];
    return [
      {
        source,
        title: 'tasks done without faults, and with them',
        unit: '%',
        keys: ['mode'],
        columns,
        rows: MODES.map(({ name }, m) => ({
          keys: [name],
          cells: settings.map(({ rate }, i) =>
            measured[i]![m]!.mean('success', PAPER[name]?.[RATES.indexOf(rate)]),
          ),
        })),
        notes,
        plot: { sort: 'bar', x: 'mode', y: 'tasks done' },
      },
      sixTable(
        { source, title: 'without faults, and with them', keys: ['faults'] },
        MODES,
        columns.map((faults, i) => ({ keys: [faults], measured: measured[i]! })),
      ),
    ];
  },
};
