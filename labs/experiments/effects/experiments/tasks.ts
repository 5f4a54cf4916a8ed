import type { Cell, Table } from '../../tables/index.ts';
import { FaultsError } from '../errors.ts';
import type { Experiment, Running } from '../experiment.ts';
import { measureModes, paperCount, scaled, under } from '../measure.ts';
import { type MetricName, Metrics, sixTable } from '../metrics.ts';
import { MODES, type ModeName } from '../modes.ts';
import { PROFILES, type Profile } from '../schedule.ts';
import { seededFraction } from '../seeded-random.ts';
import type { Task } from '../task.ts';
import { hasTauSet, readTauSet, TAU_SETS, type TauSet, type TauSetName } from '../tau/data.ts';
import { tauTask } from '../tau/task.ts';

const RATES = [0, 0.05, 0.1, 0.3, 0.5];
/** That of tables 1 and 2. */
const RATE = 0.3;
/** The paper’s, and the one at which Tx-Full is held to lose nothing. */
const BUDGETS = [3, 20];

/** Table 1: success in per cent on WebArena and on OSWorld. */
const TABLE_1: Partial<Record<ModeName, string>> = {
  'Tx-Full': '57.2, 37.0',
  CR: '53.2, 37.1',
  'No-Frontier': '7.8, 0.5',
  'No-Tx': '3.3, 0.0',
};

const COUNTED = [
  'correct',
  'faults',
  'retries',
  'recovered',
] as const satisfies readonly MetricName[];

/** Table 2, of the shop of τ-bench: success in per cent, faults, retries, recovered. */
const TABLE_2: Partial<Record<ModeName, readonly number[]>> = {
  'Tx-Full': [53.5, 195, 186, 110],
  CR: [41.0, 214, 202, 125],
  'No-Frontier': [7.7, 68, 0, 0],
  'No-Tx': [0, 63, 0, 0],
};

const ABOUT = [
  'A task is done where the service’s own records end as the benchmark’s own tools leave them, and its caller was told what those answer. Its calls are those of the benchmark’s solution, one transaction each; the paper’s are those of a model, which fails at some tasks by itself.',
  'The service is elsewhere, without a policy, and takes a key once. A checkpoint has nothing of it.',
  'Who is told of an error ends. The budget is that of a step, and of each call that the runtime makes again by itself: after the commit, where it undoes, and where an answer was lost.',
];

export const realTasks: Experiment = {
  name: 'tasks',
  about: 'the tasks of τ-bench’s airline and shop, by the records that they leave (tables 1, 2)',
  uses: ['seed', 'scale', 'data'],
  lacks: (data) => {
    if (TAU_SETS.some((name) => hasTauSet(name, data))) return undefined;
    const files = TAU_SETS.map((name) => `${name}/tasks.json`).join(' and no ');
    return `it needs the tasks of τ-bench, and ${data} has no ${files}; say with --data which folder has one.`;
  },
  run: (running) => tablesOf(running, PROFILES),
};

/** Under some of the profiles alone. @throws FaultsError `no_data` */
export async function tablesOf(
  running: Running,
  profiles: readonly Profile[],
): Promise<readonly Table[]> {
  const found = TAU_SETS.map((name) => ({ name, set: readTauSet(name, running.data) }));
  const sets = found.flatMap(({ name, set }) => (set === undefined ? [] : [{ name, set }]));
  const absent = found.flatMap(({ name, set }) =>
    set === undefined ? [absence(name, running.data)] : [],
  );
  if (sets.length === 0) throw new FaultsError('no_data', absent.join(' '));
  return under(profiles, (part, profile) => tablesUnder(part, profile, sets, absent))(running);
}

interface Named {
  readonly name: TauSetName;
  readonly set: TauSet;
}

async function tablesUnder(
  running: Running,
  profile: Profile,
  sets: readonly Named[],
  absent: readonly string[],
): Promise<Table[]> {
  const settings = sets.flatMap(({ name, set }) =>
    BUDGETS.flatMap((retries) =>
      RATES.map((rate) => ({ name, retries, rate, ...drawn(set, running.seed) })),
    ),
  );
  const measured = await measureModes(
    running,
    MODES,
    settings.map(({ retries, rate, runs, task }) => ({
      profile,
      rate,
      retries,
      tries: retries + 1,
      runs,
      task,
    })),
  );
  /** Of one set, or of all of them together. */
  const metricsOf = (retries: number, rate: number, mode: number, of?: TauSetName): Metrics => {
    const is = (one: (typeof settings)[number]): boolean =>
      one.retries === retries && one.rate === rate && (of === undefined || of === one.name);
    return Metrics.together(
      measured.flatMap((byMode, i) => (is(settings[i]!) ? [byMode[mode]!] : [])),
      running.seed,
    );
  };
  const runs = sets
    .map(({ name, set }) => `${scaled(set.tasks.length, running)} of ${name}`)
    .join(', ');
  const idle = sets
    .flatMap(({ set }) => set.tasks)
    .filter(({ calls }) => calls.length === 0).length;
  const notes = [
    profile.about,
    `Tasks: ${runs}. ${idle} of all are to do nothing.`,
    ...ABOUT,
    ...absent,
  ];
  const columns = MODES.map(({ name }) => name);
  const paperRetries = BUDGETS[0]!;
  return [
    {
      source: 'Table 1',
      title: `real tasks done at fp ${RATE}, ${profile.title}`,
      unit: '%',
      keys: ['mode'],
      columns: [...sets.map(({ name }) => name), 'all'],
      rows: MODES.map(({ name: mode }, m) => ({
        keys: [mode],
        cells: [
          ...sets.map(({ name }) => metricsOf(paperRetries, RATE, m, name).mean('correct')),
          metricsOf(paperRetries, RATE, m).mean('correct', TABLE_1[mode]),
        ],
      })),
      notes: [
        `Retry budget ${paperRetries}. The paper’s two figures are of WebArena and OSWorld.`,
        ...notes,
      ],
      plot: { sort: 'bar', x: 'mode', y: 'tasks done' },
    },
    {
      source: 'Table 2',
      title: `real tasks at fp ${RATE}, with what went wrong, ${profile.title}`,
      keys: ['tasks', 'mode'],
      columns: ['done (%)', 'faults', 'retries', 'recovered'],
      rows: sets.flatMap(({ name }) =>
        MODES.map(({ name: mode }, m) => ({
          keys: [name, mode],
          cells: COUNTED.map((metric, i) =>
            cellOf(
              metricsOf(paperRetries, RATE, m, name),
              metric,
              name === 'tau-retail' ? paperOf(TABLE_2[mode]?.[i], metric, running) : undefined,
            ),
          ),
        })),
      ),
      notes: [
        `Retry budget ${paperRetries}. The paper’s figures are of 30 tasks of the shop.`,
        ...notes,
      ],
      plot: { sort: 'bar', x: 'mode', y: 'tasks done, %', columns: ['done (%)'] },
    },
    sixTable(
      {
        source: 'Table 2',
        title: `of real tasks at fp ${RATE}, ${profile.title}`,
        keys: ['tasks'],
        notes: ['A step is a record of the service that the task is to change.'],
      },
      MODES,
      sets.map(({ name }) => ({
        keys: [name],
        measured: MODES.map((_, m) => metricsOf(paperRetries, RATE, m, name)),
      })),
    ),
    {
      source: '§6.2',
      title: `real tasks done, ${profile.title}`,
      unit: '%',
      keys: ['retries', 'fp'],
      columns,
      rows: BUDGETS.flatMap((retries) =>
        RATES.map((rate) => ({
          keys: [retries, rate],
          cells: MODES.map((_, m) => metricsOf(retries, rate, m).mean('correct')),
        })),
      ),
      notes,
      plot: { sort: 'line', x: 'fp', y: 'tasks done' },
    },
    {
      source: '§6.2',
      title: `faults, retries and recovered steps of Tx-Full, ${profile.title}`,
      keys: ['retries', 'fp'],
      columns: ['done (%)', 'faults', 'retries', 'recovered'],
      rows: BUDGETS.flatMap((retries) =>
        RATES.map((rate) => ({
          keys: [retries, rate],
          cells: COUNTED.map((metric) => cellOf(metricsOf(retries, rate, 0), metric)),
        })),
      ),
      notes,
    },
  ];
}

/**
 * The tasks of the set in an order by the seed. Fewer tasks are a sample; more tasks are the same
 * again, under other faults.
 */
export function drawn(
  set: TauSet,
  seed: number,
): { readonly runs: number; readonly task: (run: number) => Task } {
  const { desk, tasks } = set;
  const order = tasks
    .map((task) => ({ task, at: seededFraction('task', seed, desk.name, task.taskId) }))
    .sort((a, b) => a.at - b.at);
  return {
    runs: tasks.length,
    task: (run) => {
      const task = tauTask(set, order[run % order.length]!.task);
      const round = Math.floor(run / order.length);
      return round === 0 ? task : { ...task, name: `${task.name}, again ${round}` };
    },
  };
}

/** A share is of any number of runs; a count is not. */
function paperOf(
  figure: number | undefined,
  metric: MetricName,
  running: Running,
): number | undefined {
  return metric === 'correct' ? figure : paperCount(figure, running);
}

function cellOf(metrics: Metrics, metric: (typeof COUNTED)[number], paper?: number): Cell {
  return metric === 'correct' ? metrics.mean(metric, paper) : metrics.total(metric, paper);
}

function absence(name: TauSetName, data: string): string {
  return `The data ${name} is not here: ${data} has no ${name}/tasks.json; say with --data which folder has it.`;
}
