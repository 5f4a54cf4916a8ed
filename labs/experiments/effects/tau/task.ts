import type { Json } from 'assize/internal/base';
import type { Environment, Task, TaskVerdict } from '../task.ts';
import type { TauRun, TauSet, TauTask } from './data.ts';
import { type Desk, same } from './desk.ts';
import { type Served, TauService } from './service.ts';
import { tauTools } from './tools.ts';

/** A benchmark's task: the calls that solve it, on a service with a database of its own. */
export function tauTask({ desk }: TauSet, task: TauTask): Task {
  return taskOf(desk, task, `${desk.name} ${task.taskId}`);
}

/** The calls that a model made, in order. Its verdict also counts the rewarded runs. */
export function recordedTauTask(desk: Desk, run: TauRun): Task {
  return taskOf(desk, run, `${desk.name} ${run.taskId}, trial ${run.trial}`);
}

function taskOf(desk: Desk, task: TauTask | TauRun, name: string): Task {
  return {
    name,
    steps: task.calls.map((call) => ({ tool: `${desk.name}.${call.name}`, input: call.arguments })),
    open: () => {
      const service = new TauService(desk);
      return new TauEnvironment(tauTools(desk, service), service, task);
    },
  };
}

class TauEnvironment implements Environment {
  readonly tools: Environment['tools'];
  readonly #service: TauService;
  readonly #task: TauTask | TauRun;

  constructor(tools: Environment['tools'], service: TauService, task: TauTask | TauRun) {
    this.tools = tools;
    this.#service = service;
    this.#task = task;
  }

  /** The service is external, so a checkpoint contains no part of its state. */
  snapshot(): unknown {
    return undefined;
  }

  restore(): void {}

  judge(answers: readonly unknown[]): TaskVerdict {
    const { changed: expected, outputs } = this.#task;
    const changed = this.#service.changed();
    const idsOf = (records: typeof changed): string[] =>
      Object.entries(records).flatMap(([name, all]) =>
        Object.keys(all).map((id) => `${name} ${id}`),
      );
    const [wanted, there] = [idsOf(expected), new Set(idsOf(changed))];
    const recordOf = (records: typeof changed, id: string): unknown => {
      const [name, key] = [id.slice(0, id.indexOf(' ')), id.slice(id.indexOf(' ') + 1)];
      return records[name]?.[key];
    };
    const present = wanted.filter((id) => there.has(id));
    const isAsExpected = same(changed, expected);
    const correct = isAsExpected && same(answers.map(outputOf), outputs);
    return {
      correct,
      ...('reward' in this.#task && { counts: rewardsOf(this.#task, changed, correct) }),
      expected: wanted.length,
      present: present.length,
      wrong: present.filter((id) => !same(recordOf(changed, id), recordOf(expected, id))).length,
      contaminated: !isAsExpected || this.#service.log.some(({ did }) => did === 'revert'),
    };
  }
}

/**
 * `rewarded`: the run ended as recorded, and the recorded one has the full reward. `by accident`:
 * the records are those of the solution although the recorded run left others, so a fault undid a
 * mistake of the model.
 */
function rewardsOf(
  { reward, changed: recorded, solution }: TauRun,
  changed: unknown,
  correct: boolean,
) {
  const isAccident = same(changed, solution) && !same(recorded, solution);
  return { rewarded: correct && reward === 1 ? 1 : 0, 'by accident': isAccident ? 1 : 0 };
}

/**
 * The output as the benchmark defines it. If the answer also names its change, the output is a
 * separate field.
 */
function outputOf(answer: unknown): Json {
  const isServed =
    typeof answer === 'object' && answer !== null && 'output' in answer && 'change' in answer;
  return (isServed ? (answer as Served).output : (answer ?? null)) as Json;
}
