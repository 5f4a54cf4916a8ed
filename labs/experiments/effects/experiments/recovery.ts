import type { Table } from '../../tables/index.ts';
import { registersTask } from '../environments/registers.ts';
import type { Experiment, Running } from '../experiment.ts';
import { measureModes, under } from '../measure.ts';
import { type MetricName, sixTable } from '../metrics.ts';
import { MODES, type ModeName } from '../modes.ts';
import { BOTH, PAPER, type Profile } from '../schedule.ts';

const STEPS = 10;
const RUNS = 100;
const RATES = [0, 0.1, 0.3, 0.5];
/** The paper’s, and the one at which we lose nothing. */
const BUDGETS = [3, 20];

/** Correct states in per cent, by mode and rate, where A.6 says them. */
const CORRECT: Partial<Record<ModeName, readonly (number | undefined)[]>> = {
  'Tx-Full': [100, 100, 100, 100],
  CR: [100, 100, 100, 100],
  'No-Frontier': [undefined, 46, 5, 0],
  'No-Tx': [undefined, 39, 3, 0],
};
/** Steps with a wrong value in per cent, by mode and rate, where A.6 says them. */
const CORRUPT: Partial<Record<ModeName, readonly (number | undefined)[]>> = {
  'No-Frontier': [0, 0, 0, 0],
  'No-Tx': [undefined, undefined, 30, undefined],
};

/** Here writes may be cut off: that is how the paper's have wrong values. */
const PROFILES: readonly Profile[] = [
  {
    ...BOTH,
    about:
      'A third of the faults each: exceptions, lost responses, and writes that are cut off; the same in all modes.',
    kinds: () => ['exception', 'lost', 'torn'],
  },
  {
    ...PAPER,
    about:
      'Faults as the paper has them: exceptions, and for No-Tx and CR writes that are cut off instead.',
    kinds: ({ name }) => (name === 'No-Tx' || name === 'CR' ? ['torn'] : ['exception']),
  },
];

export const recovery: Experiment = {
  name: 'recovery',
  about: 'ten writes one after the other under faults: correct and corrupted states (A.6)',
  run: under(PROFILES, tablesUnder),
};

async function tablesUnder(running: Running, profile: Profile): Promise<Table[]> {
  const settings = BUDGETS.flatMap((retries) => RATES.map((rate, r) => ({ retries, rate, r })));
  const measured = await measureModes(
    running,
    MODES,
    settings.map(({ retries, rate }) => ({
      profile,
      rate,
      retries,
      runs: RUNS,
      onError: 'go on',
      task: (run) => registersTask(`registers ${run}`, STEPS),
    })),
  );
  const rowsOf = (metric: MetricName, printed: typeof CORRECT): Table['rows'] =>
    settings.map(({ retries, rate, r }, i) => ({
      keys: [retries, rate],
      // The paper's figures are of its own budget.
      cells: MODES.map(({ name }, m) =>
        measured[i]![m]!.mean(metric, retries === BUDGETS[0] ? printed[name]?.[r] : undefined),
      ),
    }));
  const shared = {
    source: 'A.6',
    unit: '%',
    keys: ['retries', 'fp'],
    columns: MODES.map(({ name }) => name),
    notes: [
      profile.about,
      `${measured[0]![0]!.runs} runs a cell. Who is told of an error goes on with the next step. What is tried again may be hit again, which in the paper’s script it never is.`,
    ],
  };
  return [
    {
      ...shared,
      title: `correct states after ${STEPS} writes, ${profile.title}`,
      rows: rowsOf('correct', CORRECT),
      plot: { sort: 'line', x: 'fp', y: 'correct states' },
    },
    {
      ...shared,
      title: `steps with a wrong value, ${profile.title}`,
      rows: rowsOf('corruption', CORRUPT),
      plot: { sort: 'line', x: 'fp', y: 'steps with a wrong value' },
    },
    sixTable(
      {
        source: shared.source,
        title: profile.title,
        keys: shared.keys,
        notes: [
          'Contaminated: a write that is cut off is to be seen until it is cleared, in any mode.',
        ],
      },
      MODES,
      settings.map(({ retries, rate }, i) => ({ keys: [retries, rate], measured: measured[i]! })),
    ),
  ];
}
