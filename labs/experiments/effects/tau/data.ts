import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from 'assize/internal/base';
import { parseStrict } from 'assize/internal/canon';
import { z } from 'zod';
import { airlineBenchmark } from '../../../../examples/domains/airline/adjudicate.ts';
import type { AirlineRecords } from '../../../../examples/domains/airline/index.ts';
import { retailBenchmark } from '../../../../examples/domains/retail/adjudicate.ts';
import type { RetailRecords } from '../../../../examples/domains/retail/index.ts';
import {
  type ChangedRecords,
  type RecordedRun,
  recordedRun,
  recordedTask,
  runKey,
} from '../../../../examples/domains/tau/index.ts';
import { FaultsError } from '../errors.ts';
import { airlineDesk } from './airline.ts';
import type { Desk } from './desk.ts';
import { retailDesk } from './retail.ts';

/**
 * A task of a benchmark: the calls that solve it, the answers of the benchmark's own tools, and the
 * records that these tools changed.
 */
export interface TauTask {
  readonly taskId: number;
  readonly calls: readonly {
    readonly name: string;
    readonly arguments: { readonly [name: string]: Json };
  }[];
  /** The answer of each call. */
  readonly outputs: readonly Json[];
  readonly changed: ChangedRecords;
}

/** A recorded run of a model on a task: its calls, and their results without faults. */
export interface TauRun extends TauTask {
  readonly trial: number;
  readonly model: string;
  /** The benchmark's own reward of the run, from 0 to 1. */
  readonly reward: number;
  /** The records that the benchmark's own solution of the task changes. */
  readonly solution: ChangedRecords;
}

/** A benchmark with its tasks. */
export interface TauSet {
  readonly desk: Desk;
  readonly tasks: readonly TauTask[];
}

/** The folders of the two sets, below that of all data. */
export const TAU_SETS = ['tau-airline', 'tau-retail'] as const;

export type TauSetName = (typeof TAU_SETS)[number];

export function hasTauSet(name: TauSetName, folder: string): boolean {
  return existsSync(join(folder, name, 'tasks.json'));
}

/**
 * Reads a set; undefined where it is not there.
 *
 * @throws FaultsError `bad_data`, naming the file
 */
export function readTauSet(name: TauSetName, folder: string): TauSet | undefined {
  if (!hasTauSet(name, folder)) return undefined;
  const files = new Files(join(folder, name));
  return { desk: DESKS[name](files), tasks: tasksOf(files) };
}

/** Files of recorded runs. The airline alone has some. */
const RUN_FILES = ['tasks.json', 'runs.jsonl', 'expected-runs.jsonl'];

/** The first file that recorded runs of the airline lack; undefined if all are there. */
export function missingRunFile(folder: string): string | undefined {
  return RUN_FILES.map((file) => join('tau-airline', file)).find(
    (file) => !existsSync(join(folder, file)),
  );
}

/**
 * Reads the recorded runs of the airline, in the order of the file.
 *
 * @throws FaultsError `bad_data`, naming the file
 */
export function readTauRuns(folder: string): {
  readonly desk: Desk;
  readonly runs: readonly TauRun[];
} {
  const files = new Files(join(folder, 'tau-airline'));
  const solutions = new Map(tasksOf(files).map(({ taskId, changed }) => [taskId, changed]));
  const expected = new Map(
    files.lines('expected-runs.jsonl', EXPECTED_RUN).map((line) => [runKey(line), line]),
  );
  const runs = files.lines('runs.jsonl', recordedRun).map((run): TauRun => {
    const { task_id: taskId, trial = 0, reward = 0, model, calls } = run as RecordedRun;
    const [found, solution] = [expected.get(runKey(run)), solutions.get(taskId)];
    if (found?.outputs.length !== calls.length)
      throw files.bad(
        'expected-runs.jsonl',
        `${runKey(run)} has ${calls.length} calls, and not as many outputs`,
      );
    if (solution === undefined) throw files.bad('tasks.json', `task ${taskId} of a run is missing`);
    return {
      taskId,
      trial,
      reward,
      model,
      calls,
      outputs: found.outputs.map(outputOf),
      changed: found.changed,
      solution,
    };
  });
  return { desk: DESKS['tau-airline'](files), runs };
}

const DESKS: Readonly<Record<TauSetName, (files: Files) => Desk>> = {
  'tau-airline': (files) => airlineDesk(files.records(airlineBenchmark) as AirlineRecords),
  'tau-retail': (files) => retailDesk(files.records(retailBenchmark) as RetailRecords),
};

const RECORD = z.record(z.string(), z.unknown());
const EXPECTED = z.object({
  task_id: z.int(),
  outputs: z.array(z.string()),
  changed: z.record(z.string(), RECORD),
});

const EXPECTED_RUN = EXPECTED.extend({ trial: z.int() });

function tasksOf(files: Files): TauTask[] {
  const expected = new Map(
    files.lines('expected-tasks.jsonl', EXPECTED).map((line) => [line.task_id, line]),
  );
  return files.read('tasks.json', z.array(recordedTask)).map(({ task_id, calls }) => {
    const found = expected.get(task_id);
    if (found?.outputs.length !== calls.length)
      throw files.bad(
        'expected-tasks.jsonl',
        `task ${task_id} has ${calls.length} calls, and not as many outputs`,
      );
    return { taskId: task_id, calls, outputs: found.outputs.map(outputOf), changed: found.changed };
  });
}

/**
 * An output as parsed JSON, or as a string if it is not JSON. In JSON text, fields have an order
 * and numbers have several forms.
 */
export function outputOf(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** The files of one set. */
class Files {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  read<Value>(name: string, schema: z.ZodType<Value>): Value {
    return this.#parsed(name, this.#text(name), schema);
  }

  lines<Value>(name: string, schema: z.ZodType<Value>): Value[] {
    const lines = this.#text(name).split('\n');
    return lines.filter((line) => line !== '').map((line) => this.#parsed(name, line, schema));
  }

  /** The database, a file a collection. */
  records({
    collections,
    records,
  }: {
    readonly collections: readonly string[];
    readonly records: z.ZodType;
  }): unknown {
    const found = collections.map((name) => [name, this.read(`${name}.json`, RECORD)]);
    return this.#checked(collections.join(', '), Object.fromEntries(found), records);
  }

  bad(name: string, what: string, cause?: unknown): FaultsError {
    return new FaultsError(
      'bad_data',
      `${join(this.#folder, name)} is not as it should be: ${what}.`,
      { cause },
    );
  }

  #text(name: string): string {
    try {
      return readFileSync(join(this.#folder, name), 'utf8');
    } catch (cause) {
      throw this.bad(name, 'it can’t be read', cause);
    }
  }

  #parsed<Value>(name: string, text: string, schema: z.ZodType<Value>): Value {
    try {
      return this.#checked(name, parseStrict(text, { bytesMax: 2 ** 26 }), schema);
    } catch (cause) {
      if (cause instanceof FaultsError && cause.code === 'bad_data') throw cause;
      throw this.bad(name, (cause as Error).message, cause);
    }
  }

  #checked<Value>(name: string, value: unknown, schema: z.ZodType<Value>): Value {
    const read = schema.safeParse(value);
    if (read.success) return read.data;
    throw this.bad(name, z.prettifyError(read.error).replaceAll(/\s+/g, ' '), read.error);
  }
}
