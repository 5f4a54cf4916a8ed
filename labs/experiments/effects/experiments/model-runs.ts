import type { Cell, Table } from '../../tables/index.ts';
import { FaultsError } from '../errors.ts';
import type { Experiment, Running } from '../experiment.ts';
import { measureModes, scaled, under } from '../measure.ts';
import { type Metrics, sixTable } from '../metrics.ts';
import { MODES } from '../modes.ts';
import { PROFILES, type Profile } from '../schedule.ts';
import { seededFraction } from '../seeded-random.ts';
import { missingRunFile, readTauRuns, type TauRun } from '../tau/data.ts';
import { recordedTauTask } from '../tau/task.ts';

const RATES = [0, 0.05, 0.1, 0.3, 0.5];
const RATE = 0.3;
const RETRIES = 3;
const SOURCE = '§6.2';

export const modelRuns: Experiment = {
  name: 'model-runs',
  about:
    'recorded runs of a model on τ-bench’s airline, replayed under faults, by the reward of the benchmark',
  uses: ['seed', 'scale', 'data'],
  lacks: (data) => {
    const missing = missingRunFile(data);
    if (missing === undefined) return undefined;
    return `it needs the recorded runs of τ-bench’s airline, and ${data} has no ${missing}; say with --data which folder has one.`;
  },
  run: async (running) => {
    const lacks = modelRuns.lacks!(running.data);
    if (lacks !== undefined)
      throw new FaultsError('no_data', `The experiment model-runs cannot run: ${lacks}`);
    const { desk, runs } = readTauRuns(running.data);
    // Fewer runs are a sample, in an order by the seed.
    const order = runs
      .map((run) => ({ run, at: seededFraction('run', running.seed, run.taskId, run.trial) }))
      .sort((a, b) => a.at - b.at)
      .map(({ run }) => run);
    return under(PROFILES, (part, profile) => tablesUnder(part, profile, desk, order))(running);
  },
};

async function tablesUnder(
  running: Running,
  profile: Profile,
  desk: Parameters<typeof recordedTauTask>[0],
  recorded: readonly TauRun[],
): Promise<Table[]> {
  const measured = await measureModes(
    running,
    MODES,
    RATES.map((rate) => ({
      ...{ profile, rate, retries: RETRIES, tries: RETRIES + 1, runs: recorded.length },
      task: (run) => {
        const task = recordedTauTask(desk, recorded[run % recorded.length]!);
        const round = Math.floor(run / recorded.length);
        return round === 0 ? task : { ...task, name: `${task.name}, again ${round}` };
      },
    })),
  );
  const runs = scaled(recorded.length, running);
  const ran = Array.from({ length: runs }, (_, run) => recorded[run % recorded.length]!);
  const models = [...new Set(ran.map(({ model }) => model))].join(', ');
  const rewarded = ran.filter(({ reward }) => reward === 1).length;
  const silent = ran.filter(({ calls }) => calls.length === 0).length;
  const notes = [
    profile.about,
    `${runs} recorded runs of ${models} on the airline; the benchmark rewarded ${rewarded} without faults; ${silent} call no tool. The calls are those that the model made, in order, one transaction each. Retry budget ${RETRIES}. The service is elsewhere, and takes a key once.`,
    'No model is asked again: a model that learns of an error may go on otherwise, and here its run ends. So this measures how many of its own successes a mode keeps. The paper’s models ran under the faults.',
  ];
  const tableOf = (title: string, cellOf: (metrics: Metrics) => Cell, note: string): Table => ({
    source: SOURCE,
    title: `${title}, ${profile.title}`,
    unit: '%',
    keys: ['fp'],
    columns: MODES.map(({ name }) => name),
    rows: RATES.map((rate, r) => ({
      keys: [rate],
      cells: MODES.map((_, m) => cellOf(measured[r]![m]!)),
    })),
    notes: [note, ...notes],
    plot: { sort: 'line', x: 'fp', y: title },
  });
  return [
    tableOf(
      'recorded runs of a model that are rewarded',
      (metrics) => metrics.share('rewarded'),
      'Rewarded: the benchmark rewarded the recorded run, and this one leaves the same records and gave the model the same answers.',
    ),
    tableOf(
      'recorded runs of a model that end as recorded',
      (metrics) => metrics.mean('correct'),
      'As recorded: the records and all answers are those without faults, be they right or a mistake of the model.',
    ),
    {
      source: SOURCE,
      title: `recorded runs of a model at fp ${RATE}, with what went wrong, ${profile.title}`,
      keys: ['mode'],
      columns: [
        'rewarded',
        'faults',
        'retries',
        'recovered',
        'left to a person',
        'right by accident',
      ],
      rows: MODES.map(({ name }, m) => {
        const metrics = measured[RATES.indexOf(RATE)]![m]!;
        const totals = (['faults', 'retries', 'recovered', 'waiting'] as const).map((metric) =>
          metrics.total(metric),
        );
        return {
          keys: [name],
          cells: [
            { measured: metrics.counted('rewarded') },
            ...totals,
            { measured: metrics.counted('by accident') },
          ],
        };
      }),
      notes: [
        'Right by accident: the records are those of the benchmark’s solution, although the model left others. A fault kept a mistake from the records. Such a run is not counted as rewarded.',
        ...notes,
      ],
    },
    sixTable(
      {
        source: SOURCE,
        title: `of recorded runs of a model at fp ${RATE}, ${profile.title}`,
        keys: ['runs'],
        notes: ['A step is a record of the service that the recorded run changed.'],
      },
      MODES,
      [{ keys: ['tau-airline'], measured: measured[RATES.indexOf(RATE)]! }],
    ),
  ];
}
