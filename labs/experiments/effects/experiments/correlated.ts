import { type Table, yieldToEventLoop } from '../../tables/index.ts';
import { registersTask } from '../environments/registers.ts';
import type { Experiment, Running } from '../experiment.ts';
import { scaled } from '../measure.ts';
import { Metrics, sixTable } from '../metrics.ts';
import { MODES, type Mode } from '../modes.ts';
import { runTask } from '../run-task.ts';
import type { Fault, Schedule } from '../schedule.ts';
import { seededFraction } from '../seeded-random.ts';

const STEPS = 10;
const RUNS = 100;
/** Of all first tries that are hit, in every pattern. */
const RATE = 0.3;
/** Of tries in bad times that are hit. */
const DENSITY = 0.9;
/** Steps that a burst lasts, on the average. */
const BURST = 4;
/** Tasks that are done in one weather. */
const STORM_TASKS = 5;
const BUDGETS = [3, 20];

/** Whether the times are bad when a step is done; of all steps, so many that the rate comes out. */
type Weather = (seed: number, run: number, step: number) => boolean;

const BAD = RATE / DENSITY;

/**
 * Bad periods start and end at random from step to step (Gilbert 1960). A bad period is as likely
 * at the first step as at any other step.
 */
const bursts: Weather = (seed, run, step) => {
  const [ends, begins] = [1 / BURST, BAD / (1 - BAD) / BURST];
  let isBad = seededFraction('burst', seed, run, 0) < BAD;
  for (let at = 1; at <= step; at++) {
    const chance = seededFraction('burst', seed, run, at);
    isBad = isBad ? chance >= ends : chance < begins;
  }
  return isBad;
};

const storms: Weather = (seed, run) =>
  seededFraction('storm', seed, Math.floor(run / STORM_TASKS)) < BAD;

const PATTERNS: readonly { readonly name: string; readonly weather: Weather | undefined }[] = [
  { name: 'independent', weather: undefined },
  { name: 'bursts', weather: bursts },
  { name: 'storms', weather: storms },
];

export const correlated: Experiment = {
  name: 'correlated',
  about: 'faults that come in bursts and storms, beside as many that are independent',
  run: async (running) => tablesOf(running),
};

async function tablesOf(running: Running): Promise<Table[]> {
  const settings = BUDGETS.flatMap((retries) =>
    PATTERNS.map((pattern) => ({ ...pattern, retries })),
  );
  const runs = scaled(RUNS, running);
  const all = settings.length * MODES.length * runs;
  const measured: Metrics[][] = [];
  let done = 0;
  for (const { weather, retries } of settings) {
    const ofModes: Metrics[] = [];
    for (const mode of MODES) {
      const metrics = new Metrics(running.seed);
      for (let run = 0; run < runs; run++) {
        await yieldToEventLoop(running);
        metrics.add(await taskIn(mode, run, scheduleOf(weather, running.seed, run), retries));
        running.progress(++done, all);
      }
      ofModes.push(metrics);
    }
    measured.push(ofModes);
  }
  const shared = {
    source: 'Correlated faults (A.2)',
    keys: ['retries', 'faults'],
    columns: MODES.map(({ name }) => name),
  };
  const about = `${runs} tasks of ${STEPS} writes a cell, the same faults in all modes: exceptions and lost responses, half each. Of first tries ${100 * RATE} % are hit in each row, on the average of many runs: few may meet no storm at all. In bursts and storms ${100 * DENSITY} % of tries are hit, those that are made again too, and none outside of them: a burst lasts ${BURST} steps on the average, a storm ${STORM_TASKS} tasks. Chance is by step and not by time, so who tries again is still in the burst.`;
  return [
    {
      ...shared,
      title: 'correct states when errors are gone on from',
      unit: '%',
      rows: settings.map(({ name, retries }, i) => ({
        keys: [retries, name],
        cells: measured[i]!.map((metrics) => metrics.mean('correct')),
      })),
      notes: [about],
      plot: { sort: 'bar', x: 'faults', y: 'correct states' },
    },
    {
      ...shared,
      title: 'calls that were hit, and steps that a person has to look at',
      columns: [
        ...MODES.map(({ name }) => `${name}: hit`),
        ...TRANSACTIONAL.map(({ name }) => `${name}: left`),
      ],
      rows: settings.map(({ name, retries }, i) => ({
        keys: [retries, name],
        cells: [
          ...measured[i]!.map((metrics) => metrics.total('faults')),
          ...MODES.flatMap((mode, m) =>
            mode.transactional ? [measured[i]![m]!.total('waiting')] : [],
          ),
        ],
      })),
      notes: [],
    },
    sixTable(
      { source: shared.source, title: 'when errors are gone on from', keys: shared.keys },
      MODES,
      settings.map(({ name, retries }, i) => ({ keys: [retries, name], measured: measured[i]! })),
    ),
  ];
}

const TRANSACTIONAL = MODES.filter(({ transactional }) => transactional);

function taskIn(mode: Mode, run: number, schedule: Schedule, retries: number) {
  return runTask(registersTask(`registers ${run}`, STEPS), {
    mode,
    schedule,
    retries,
    onError: 'go on',
  });
}

function scheduleOf(weather: Weather | undefined, seed: number, run: number): Schedule {
  return (task, step, attempt): Fault => {
    const rate = weather === undefined ? RATE : weather(seed, run, step) ? DENSITY : 0;
    if (seededFraction('correlated', seed, task, step, attempt) >= rate) return 'none';
    return seededFraction('kind', seed, task, step, attempt) < 0.5 ? 'exception' : 'lost';
  };
}
