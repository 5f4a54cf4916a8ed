import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { dataPath, hasData } from '../../data.ts';

export interface Call {
  name: string;
  arguments: Record<string, unknown>;
}

/** Calls in order, with the results of the benchmark's own tools. */
export interface Recorded {
  task_id: number;
  trial?: number;
  calls: Call[];
  outputs: string[];
  changed: { [collection: string]: { [id: string]: unknown } };
}

/** One of tau-bench's databases, with the runs recorded on it: `tau-airline`, `tau-retail`. */
export class TauData {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get isThere(): boolean {
    return hasData(this.#folder, 'users.json');
  }

  collection<Record>(name: string): { [id: string]: Record } {
    return this.#json(`${name}.json`);
  }

  /** The recorded runs of an agent. */
  runs(): Recorded[] {
    const expected = this.#lines('expected-runs.jsonl');
    return this.#lines('runs.jsonl').map((run, i) => ({ ...run, ...expected[i] }));
  }

  /** The benchmark's own solutions of its tasks. */
  solutions(): Recorded[] {
    const expected = this.#lines('expected-tasks.jsonl');
    const tasks = this.#json<{ task_id: number; actions: Call[] }[]>('tasks.json');
    return tasks.map(({ task_id, actions }, i) => ({
      ...(expected[i] as Recorded),
      task_id,
      calls: actions,
    }));
  }

  #json<T>(name: string): T {
    return JSON.parse(readFileSync(dataPath(this.#folder, name), 'utf8'));
  }

  #lines(name: string): Recorded[] {
    const lines = readFileSync(dataPath(this.#folder, name), 'utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
  }
}

type Collections<Name extends string> = Readonly<Record<Name, Readonly<Record<string, unknown>>>>;

/** Every record that is not as it was, by collection, in the shape of the expected files. */
export function changedRecords<Name extends string>(
  collections: readonly Name[],
  before: Collections<Name>,
  after: Collections<Name>,
): Recorded['changed'] {
  const all: Recorded['changed'] = {};
  for (const collection of collections) {
    const now = Object.entries(after[collection]);
    const different = now.filter(
      ([id, record]) => !isDeepStrictEqual(record, before[collection][id]),
    );
    if (different.length > 0) all[collection] = Object.fromEntries(different);
  }
  return all;
}
