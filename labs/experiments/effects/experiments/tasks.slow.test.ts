import { declareTool, type Tool } from 'assize/internal/effects';
import { describe, expect, test } from 'vitest';
import { dataPath } from '../../../../tests/data.ts';
import { cases } from '../../../../tests/support/cases.ts';
import { blockOf } from '../../../../tests/support/process/guide-files.ts';
import { tableText } from '../../tables/index.ts';
import { claimsOf, toolNamed } from '../callers.ts';
import { type ModeName, modeOf } from '../modes.ts';
import { runTask, type TaskOptions } from '../run-task.ts';
import { BOTH, PROFILES, type Profile, scheduleOf } from '../schedule.ts';
import { openStage } from '../stage.ts';
import type { Environment, Task } from '../task.ts';
import { readTauSet, TAU_SETS } from '../tau/data.ts';
import { drawn, realTasks, tablesOf } from './tasks.ts';
import { expectSources } from './testing/table-sources.ts';

const sets = TAU_SETS.flatMap((name) => readTauSet(name, dataPath()) ?? []);

/** All tasks, or those of a benchmark that are drawn first. */
function tasksOf(seed: number, count = Number.POSITIVE_INFINITY): Task[] {
  return sets.flatMap((set) => {
    const { runs, task } = drawn(set, seed);
    return Array.from({ length: Math.min(runs, count) }, (_, run) => task(run));
  });
}

interface Setting extends Partial<TaskOptions> {
  readonly seed: number;
  readonly rate: number;
  readonly name?: ModeName;
  readonly profile?: Profile;
}

/** The results of tasks, added up. */
async function outcome(tasks: readonly Task[], setting: Setting) {
  const { seed, rate, name = 'Tx-Full', profile = BOTH, ...rest } = setting;
  const mode = modeOf(name);
  const schedule = scheduleOf({ seed, rate, kinds: profile.kinds(mode) });
  const sum = {
    tasks: tasks.length,
    correct: 0,
    faults: 0,
    retries: 0,
    waiting: 0,
    wrong: [] as string[],
  };
  for (const task of tasks) {
    const result = await runTask(task, { mode, schedule, retries: 20, tries: 21, ...rest });
    if (result.judged.correct) sum.correct++;
    else sum.wrong.push(task.name);
    sum.faults += result.faults;
    sum.retries += result.retries;
    sum.waiting += result.waiting;
  }
  return sum;
}

/**
 * Does each step first in an aborted transaction and then permanently. Returns whether the task
 * ends as expected.
 */
async function isDoneAfterUndoing({ open, steps }: Task): Promise<boolean> {
  const environment = await open();
  const { tools } = environment;
  const stage = await openStage({ mode: modeOf('Tx-Full'), tools });
  const answers: unknown[] = [];
  for (const { tool, input } of steps) {
    const claims = claimsOf(toolNamed(tools, tool), input);
    const nothing = stage.transact(claims, async (tx) => {
      await tx.call(tool, input);
      throw new Error('as planned');
    });
    await expect(nothing).rejects.toThrow('as planned');
    answers.push((await stage.transact(claims, (tx) => tx.call(tool, input))).value);
  }
  await stage.close();
  const { correct } = await environment.judge(answers);
  await environment.close?.();
  return correct;
}

/** The same task with other tools. */
function withTools(task: Task, change: (tool: Tool) => Tool): Task {
  const open = async (): Promise<Environment> => {
    const environment = await task.open();
    const tools = environment.tools.map(change);
    return {
      tools,
      snapshot: () => environment.snapshot(),
      restore: (snapshot) => environment.restore(snapshot),
      judge: (answers) => environment.judge(answers),
    };
  };
  return { ...task, open };
}

describe.skipIf(sets.length < 2)(
  'real tasks (tau-airline and tau-retail, absent without ASSIZE_DATA)',
  () => {
    test.each(PROFILES)(
      'Tx-Full at fp 0.3 and a budget of 20 ends every task as expected: $title',
      async (profile) => {
        for (let seed = 1; seed <= cases(3); seed++) {
          const found = await outcome(tasksOf(seed), { seed, rate: 0.3, profile });
          expect(found, `seed ${seed}`).toMatchObject({
            tasks: 120,
            wrong: [],
            correct: 120,
            waiting: 0,
          });
          // It had something to hold out against.
          expect(found.faults).toBeGreaterThan(150);
          expect(found.retries).toBeGreaterThan(150);
        }
      },
    );

    test('at half of all calls, too', async () => {
      expect(await outcome(tasksOf(7, 12), { seed: 7, rate: 0.5 })).toMatchObject({
        tasks: 24,
        wrong: [],
      });
    });

    test('without faults every mode ends all of them as expected', async () => {
      for (const name of ['Tx-Full', 'CR', 'No-Frontier', 'No-Tx', 'Tx-NoFrontier+Retry'] as const)
        expect(await outcome(tasksOf(1), { seed: 1, rate: 0, name }), name).toMatchObject({
          wrong: [],
          faults: 0,
          retries: 0,
        });
    });

    test('modes without retries or without transactions lose tasks', async () => {
      for (const name of ['CR', 'No-Frontier', 'No-Tx'] as const)
        expect(
          (await outcome(tasksOf(1), { seed: 1, rate: 0.3, name })).correct,
          name,
        ).toBeLessThan(115);
    });

    test('fewer attempts leave more tasks pending a human and fewer correct', async () => {
      const found = await outcome(tasksOf(1), { seed: 1, rate: 0.5, retries: 3, tries: 4 });
      const less = await outcome(tasksOf(1), { seed: 1, rate: 0.5, retries: 3, tries: 2 });
      expect(less.waiting).toBeGreaterThan(found.waiting);
      expect(less.correct).toBeLessThan(found.correct);
    });

    test('an effect compensated before its final execution leaves no trace', async () => {
      for (const task of tasksOf(1))
        expect([task.name, await isDoneAfterUndoing(task)]).toEqual([task.name, true]);
    });

    describe('sees where', () => {
      // Where calls are hit often enough for each flaw to be met.
      const at = { seed: 1, rate: 0.5 };

      test('a key is not handed on', async () => {
        let calls = 0;
        const keyless = ({ spec }: Tool): Tool =>
          declareTool({
            ...spec,
            execute: (input, call, planned) =>
              spec.execute(input, { ...call, key: `${calls++}` }, planned),
          });
        const tasks = tasksOf(1).map((task) => withTools(task, keyless));
        expect((await outcome(tasks, at)).correct).toBeLessThan(115);
      });

      test('a compensation does nothing', async () => {
        const lazy = ({ spec }: Tool): Tool =>
          declareTool(
            spec.compensate === undefined
              ? spec
              : { ...spec, compensate: () => ({ undone: 'all' }) as const },
          );
        const lost = await Promise.all(
          tasksOf(1).map((task) => isDoneAfterUndoing(withTools(task, lazy))),
        );
        expect(lost.filter((isDone) => isDone).length).toBeLessThan(120);
      });

      test('an answer does not match the executed effect', async () => {
        const guessing = ({ spec }: Tool): Tool =>
          declareTool(spec.plan === undefined ? spec : { ...spec, plan: () => '' });
        const tasks = tasksOf(1).map((task) => withTools(task, guessing));
        expect((await outcome(tasks, { seed: 1, rate: 0 })).correct).toBeLessThan(70);
      });

      test('something is done that was not asked for', async () => {
        const tasks = tasksOf(1).map((task) => ({
          ...task,
          steps: [...task.steps, ...task.steps],
        }));
        expect((await outcome(tasks, { seed: 1, rate: 0 })).correct).toBeLessThan(20);
      });
    });

    test('the guide shows the measured tables', async () => {
      const signal = new AbortController().signal;
      const running = { seed: 1, scale: 1, data: dataPath(), signal, progress: () => undefined };
      const tables = await tablesOf(running, [BOTH]);
      const shown = blockOf('labs/experiments/docs/faults-tasks.md', 'text tasks');
      const [title] = shown.split('\n', 1);
      const printed = tables.map(tableText).find((text) => text.startsWith(title as string));
      expect(printed?.slice(0, shown.length)).toBe(shown);
    });

    test('the experiment reports the same tables for a small sample', async () => {
      const told: number[] = [];
      const tables = await realTasks.run({
        seed: 1,
        scale: 0.02,
        data: dataPath(),
        signal: new AbortController().signal,
        progress: (done, of) => told.push(done / of),
      });
      expect(tables.map(({ source }) => source)).toEqual([
        ...['Table 1', 'Table 2', 'Table 2', '§6.2', '§6.2'],
        ...['Table 1', 'Table 2', 'Table 2', '§6.2', '§6.2'],
      ]);
      expectSources('tasks', tables);
      expect(told.at(-1)).toBe(1);
      const text = tables.map(tableText).join('\n');
      expect(text).toContain('Tasks: 1 of tau-airline, 1 of tau-retail.');
      for (const { columns, rows } of tables)
        for (const { cells } of rows) expect(cells).toHaveLength(columns.length);
    });
  },
);

test('where the data is not, it is not run, and says which', async () => {
  const running = realTasks.run({
    seed: 1,
    scale: 1,
    data: '/nowhere',
    signal: new AbortController().signal,
    progress: () => undefined,
  });
  await expect(running).rejects.toMatchObject({ code: 'no_data' });
  for (const name of TAU_SETS)
    await expect(running).rejects.toThrow(`The data ${name} is not here: /nowhere`);
  expect(realTasks.lacks?.('/nowhere')).toMatch(
    /\/nowhere has no tau-airline\/tasks\.json and no tau-retail/,
  );
});
