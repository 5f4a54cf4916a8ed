import type { Cell, Table } from '../tables/index.ts';
import { type Estimate, estimateOf } from './interval.ts';
import type { Mode } from './modes.ts';
import type { TaskResult } from './run-task.ts';

/** The six metrics of seed 003 §6.1.3, and the other counts of its tables. */
export type MetricName =
  | 'success'
  | 'correct'
  | 'contaminated'
  | 'completion'
  | 'corruption'
  | 'propagated'
  | 'faults'
  | 'retries'
  | 'recovered'
  | 'waiting';

/** The six of them, as columns of a table, in the order of the paper. */
export const SIX_COLUMNS: readonly string[] = [
  'done',
  'correct',
  'contaminated',
  'steps there',
  'steps wrong',
  'errors told',
];

/**
 * The contribution of one task. The tables show the mean of the first five metrics, in per cent,
 * and the sum of the others.
 */
const OF: Readonly<Record<MetricName, (result: TaskResult) => number>> = {
  /** All steps were done without an error that could not be recovered from. */
  success: ({ success }) => (success ? 100 : 0),
  /** The final state is the expected one. */
  correct: ({ judged }) => (judged.correct ? 100 : 0),
  /** Something that was not to stay was visible at any time. */
  contaminated: ({ judged }) => (judged.contaminated ? 100 : 0),
  /** The expected steps that are in the final state, in per cent: 100 if no step is expected. */
  completion: ({ judged }) =>
    judged.expected === 0 ? 100 : partOf(judged.present, judged.expected),
  /** Of the expected steps, those with a wrong value in the final state. */
  corruption: ({ judged }) => partOf(judged.wrong, judged.expected),
  /** Errors that the caller learned of. */
  propagated: ({ propagated }) => propagated,
  faults: ({ faults }) => faults,
  retries: ({ retries }) => retries,
  recovered: ({ recovered }) => recovered,
  waiting: ({ waiting }) => waiting,
};

/** Adds up what came of tasks that were done alike. */
export class Metrics {
  readonly #seed: number;
  readonly #results: TaskResult[] = [];

  /** `seed`: of the intervals. */
  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Of all tasks that were added to any of these. */
  static together(all: readonly Metrics[], seed: number): Metrics {
    const metrics = new Metrics(seed);
    for (const each of all) metrics.#results.push(...each.#results);
    return metrics;
  }

  add(result: TaskResult): void {
    this.#results.push(result);
  }

  get runs(): number {
    return this.#results.length;
  }

  valuesOf(metric: MetricName): number[] {
    return this.#results.map(OF[metric]);
  }

  /** The sum of the sinks' counts under that name (`Judged.counts`). */
  counted(name: string): number {
    return this.#results.reduce((sum, { judged }) => sum + (judged.counts?.[name] ?? 0), 0);
  }

  /** The share of the runs that have that count, in per cent, as a cell of a table. */
  share(name: string): Cell {
    const values = this.#results.map(({ judged }) => ((judged.counts?.[name] ?? 0) > 0 ? 100 : 0));
    const { mean, within } = estimateOf(values, this.#seed);
    return { measured: mean, within };
  }

  sum(metric: MetricName): number {
    return this.valuesOf(metric).reduce((sum, value) => sum + value, 0);
  }

  /** The mean of a task, with its interval. */
  estimate(metric: MetricName): Estimate {
    return estimateOf(this.valuesOf(metric), this.#seed);
  }

  /** The cells of `SIX_COLUMNS`: means of tasks, and of errors the sum. */
  six(): Cell[] {
    const means = (['success', 'correct', 'contaminated', 'completion', 'corruption'] as const).map(
      (name) => this.mean(name),
    );
    return [...means, this.total('propagated')];
  }

  /** The mean as a cell of a table. */
  mean(metric: MetricName, paper?: Cell['paper']): Cell {
    if (this.runs === 0) return { measured: '–' };
    const { mean, within } = this.estimate(metric);
    // One run says nothing of how far others are from it.
    const spread = this.runs === 1 ? {} : { within };
    return { measured: mean, ...spread, ...(paper === undefined ? {} : { paper }) };
  }

  /** The sum as a cell of a table. */
  total(metric: MetricName, paper?: Cell['paper']): Cell {
    return { measured: this.sum(metric), ...(paper === undefined ? {} : { paper }) };
  }
}

/**
 * All six metrics of each setting in each mode, below the table with the metric that the paper
 * prints. `settings`: the measurements of each setting, in the order of the modes.
 */
export function sixTable(
  {
    title,
    notes = [],
    ...of
  }: Pick<Table, 'source' | 'title' | 'keys'> & { readonly notes?: Table['notes'] },
  modes: readonly Mode[],
  settings: readonly {
    readonly keys: Table['rows'][number]['keys'];
    readonly measured: readonly Metrics[];
  }[],
): Table {
  return {
    ...of,
    title: `all six metrics, in per cent but for errors, ${title}`,
    digits: 1,
    keys: [...of.keys, 'mode'],
    columns: SIX_COLUMNS,
    rows: settings.flatMap(({ keys, measured }) =>
      modes.map(({ name }, m) => ({ keys: [...keys, name], cells: measured[m]!.six() })),
    ),
    notes: [
      'Of the same runs as above. The six are those of section 6.1.3: tasks done without a reported error, correct final states, tasks that showed something that did not stay, steps that are there in the end, those that are there with a wrong value, and the sum of reported errors.',
      ...notes,
    ],
  };
}

function partOf(some: number, all: number): number {
  return all === 0 ? 0 : (100 * some) / all;
}
