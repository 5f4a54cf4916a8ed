import { DidNothing, declareTool, type ToolSpec } from 'assize/internal/effects';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../tests/support/cases.ts';
import { mockTask } from './environments/mock-app.ts';
import { registersTask } from './environments/registers.ts';
import { LostResponse } from './faulty.ts';
import { MODES, type Mode, type ModeName, modeOf } from './modes.ts';
import { runTask, type TaskOptions, type TaskResult } from './run-task.ts';
import { type Fault, type FaultKind, type Schedule, scheduleOf } from './schedule.ts';
import type { Environment, Task } from './task.ts';

const KINDS: readonly FaultKind[] = ['exception', 'lost', 'torn'];

/**
 * The expected result of `steps` registers, by the words of the paper alone: no runtime, no tools.
 */
function model(
  name: string,
  steps: number,
  { mode, schedule, retries = 3, onError = 'end' }: TaskOptions,
): TaskResult {
  const told = { faults: 0, retries: 0, recovered: 0, propagated: 0, waiting: 0 };
  const there: ('right' | 'wrong')[] = [];
  let [done, contaminated] = [0, false];
  for (let step = 0; step < steps; step++) {
    const { faults, isDone, leaves, wasSeen } = modelStep(
      mode,
      (attempt) => schedule(name, step, attempt),
      retries,
    );
    told.faults += faults.length;
    told.retries += isRetrying(mode)
      ? faults.filter((fault) => isTriedAgain(mode, fault)).length - (isDone ? 0 : 1)
      : 0;
    contaminated ||= wasSeen;
    if (leaves !== undefined) there.push(leaves);
    if (isDone) done++;
    else told.propagated++;
    if (isDone && faults.length > 0) told.recovered++;
    if (!isDone && onError === 'end') break;
  }
  const wrong = there.filter((each) => each === 'wrong').length;
  const judged = {
    correct: there.length === steps && wrong === 0,
    expected: steps,
    present: there.length,
    wrong,
    contaminated,
  };
  return { steps, success: done === steps, ...told, judged };
}

const isRetrying = ({ retry }: Mode): boolean => retry;
/** A transaction asks for the outcome of a call, so it does not retry an executed call. */
const isTriedAgain = ({ transactional }: Mode, fault: Fault): boolean =>
  !(transactional && fault === 'lost');

function modelStep(mode: Mode, faultOf: (attempt: number) => Fault, retries: number) {
  const faults: Fault[] = [];
  let wasSeen = false;
  for (let attempt = 0; ; attempt++) {
    const fault = faultOf(attempt);
    if (fault === 'none') return { faults, isDone: true, leaves: 'right' as const, wasSeen };
    faults.push(fault);
    if (mode.transactional && fault === 'lost')
      return { faults, isDone: true, leaves: 'right' as const, wasSeen };
    wasSeen ||= fault === 'torn' || (mode.checkpoint && fault === 'lost');
    if (mode.retry && attempt < retries) continue;
    const left =
      mode.name !== 'No-Tx' || fault === 'exception'
        ? undefined
        : fault === 'lost'
          ? 'right'
          : 'wrong';
    return { faults, isDone: false, leaves: left as 'right' | 'wrong' | undefined, wasSeen };
  }
}

test.each(MODES)(
  '$name: each task ends as the model of the paper’s description predicts',
  async (mode) => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          seed: fc.nat(),
          rate: fc.constantFrom(0, 0.1, 0.3, 0.5, 0.9, 1),
          kinds: fc.subarray([...KINDS], { minLength: 1 }),
          retries: fc.constantFrom(0, 1, 3, 20),
          steps: fc.integer({ min: 1, max: 12 }),
          onError: fc.constantFrom('end', 'go on'),
        }),
        async ({ seed, rate, kinds, retries, steps, onError }) => {
          const options = { mode, schedule: scheduleOf({ seed, rate, kinds }), retries, onError };
          expect(await runTask(registersTask('t', steps), options)).toEqual(
            model('t', steps, options),
          );
        },
      ),
      { numRuns: cases(60) },
    );
  },
);

describe('in an app where to submit again is not harmless', () => {
  const RUNS = 60;

  async function correctOf(
    mode: ModeName,
    checkpoint: 'all' | 'client',
    retries: number,
  ): Promise<number> {
    let correct = 0;
    for (let run = 0; run < RUNS; run++) {
      const schedule = scheduleOf({ seed: 3, rate: 0.3, kinds: ['exception', 'lost'] });
      const { judged } = await runTask(mockTask(`t${run}`, { steps: 10, checkpoint }), {
        mode: modeOf(mode),
        schedule,
        retries,
      });
      if (judged.correct) correct++;
    }
    return correct / RUNS;
  }

  test('transactions that are tried again leave all of it right', async () => {
    expect(await correctOf('Tx-Full', 'client', 20)).toBe(1);
    expect(await correctOf('Tx-NoFrontier+Retry', 'client', 20)).toBe(1);
  });

  test('checkpoints do so only if they include the server’s submitted data', async () => {
    expect(await correctOf('CR', 'all', 20)).toBe(1);
    expect(await correctOf('CR', 'client', 20)).toBeLessThan(0.8);
  });

  test('without retry, most of it is left undone', async () => {
    expect(await correctOf('No-Frontier', 'client', 20)).toBeLessThan(0.5);
    expect(await correctOf('No-Tx', 'client', 20)).toBeLessThan(0.3);
  });
});

describe('a flaw is seen, as the sinks tell and not the caller', () => {
  /** The mock app with one part of it made wrong. */
  function flawed(
    flaw: (spec: ToolSpec<any>, environment: Environment) => Partial<ToolSpec<any>>,
  ): Task {
    const task = mockTask('t', { steps: 10, checkpoint: 'all' });
    return {
      ...task,
      open: async () => {
        const environment = await task.open();
        const tools = environment.tools.map(({ spec }) =>
          declareTool({ ...spec, ...flaw(spec, environment) }),
        );
        return Object.assign(Object.create(environment) as Environment, {
          tools,
          snapshot: () => environment.snapshot(),
          restore: (snapshot: unknown) => environment.restore(snapshot),
          judge: (answers: readonly unknown[]) => environment.judge(answers),
        });
      },
    };
  }

  const always =
    (fault: Fault): Schedule =>
    (_task, _step, attempt) =>
      attempt === 0 ? fault : 'none';
  const run = (task: Task, mode: ModeName, schedule: Schedule) =>
    runTask(task, { mode: modeOf(mode), schedule, retries: 3, onError: 'go on' });

  test.each(['Tx-Full', 'Tx-NoFrontier+Retry'] as const)(
    '%s: a sink that denies an executed call',
    async (mode) => {
      const task = flawed(() => ({ reconcile: () => ({ happened: false }) }));
      expect(await run(task, mode, always('lost'))).toMatchObject({
        success: true,
        judged: { correct: false, wrong: 5 },
      });
      expect(
        await run(
          flawed(() => ({})),
          mode,
          always('lost'),
        ),
      ).toMatchObject({ judged: { correct: true } });
    },
  );

  test('Tx-Full: a tool that says that it did nothing, and did', async () => {
    const task = flawed(({ execute }) => {
      let calls = 0;
      return {
        execute: async (...args) => {
          await execute(...args);
          if (calls++ % 2 === 0) throw new DidNothing('nothing was done');
        },
      };
    });
    expect(await run(task, 'Tx-Full', always('none'))).toMatchObject({
      success: true,
      judged: { correct: false, wrong: 5 },
    });
  });

  test('No-Frontier: a sink that says that all has happened', async () => {
    const task = flawed(({ execute }) => ({
      execute: async (...args) => {
        if (args[0].row === 'row 3') throw new LostResponse('it never came there');
        return execute(...args);
      },
      reconcile: () => ({ happened: true, result: null }),
    }));
    expect(await run(task, 'No-Frontier', always('none'))).toMatchObject({
      success: true,
      judged: { correct: false, present: 9 },
    });
  });

  test('CR: a checkpoint that puts nothing back', async () => {
    const task = flawed((_, environment) => {
      environment.restore = () => undefined;
      return {};
    });
    expect(await run(task, 'CR', always('lost'))).toMatchObject({
      success: true,
      judged: { correct: false, wrong: 5 },
    });
    expect(
      await run(
        flawed(() => ({})),
        'CR',
        always('lost'),
      ),
    ).toMatchObject({ judged: { correct: true, contaminated: true } });
  });

  test('No-Tx: a tool that acts twice', async () => {
    const task = flawed(({ execute }) => ({
      execute: async (...args) => {
        await execute(...args);
        return execute(...args);
      },
    }));
    expect(await run(task, 'No-Tx', always('none'))).toMatchObject({
      success: true,
      judged: { correct: false, wrong: 5 },
    });
  });
});

describe('the result that the caller receives', () => {
  test('a blind sink’s lost answer needs a human decision; the step is not done', async () => {
    const task = mockTask('t', { steps: 2, checkpoint: 'all' });
    const blind: Task = {
      ...task,
      open: async () => {
        const environment = await task.open();
        const tools = environment.tools.map(({ spec: { reconcile: _, ...spec } }) =>
          declareTool({ ...spec, class: { ...(spec.class as object), sink: 'blind' } as never }),
        );
        return Object.assign(Object.create(environment) as Environment, {
          tools,
          judge: (answers: readonly unknown[]) => environment.judge(answers),
        });
      },
    };
    const result = await runTask(blind, {
      mode: modeOf('Tx-Full'),
      schedule: (_task, step) => (step === 1 ? 'lost' : 'none'),
    });
    expect(result).toMatchObject({
      success: false,
      propagated: 1,
      waiting: 1,
      judged: { present: 2 },
    });
  });

  test('a buffered effect that fails after commit needs a human; step not done', async () => {
    const task = mockTask('t', { steps: 2, checkpoint: 'all' });
    const held: Task = {
      ...task,
      open: async () => {
        const environment = await task.open();
        const tools = environment.tools.map(({ spec }) =>
          declareTool({
            ...spec,
            class: { ...(spec.class as object), delivery: 'buffered' } as never,
          }),
        );
        return Object.assign(Object.create(environment) as Environment, {
          tools,
          judge: (answers: readonly unknown[]) => environment.judge(answers),
        });
      },
    };
    const schedule: Schedule = (_task, step) => (step === 1 ? 'exception' : 'none');
    const result = await runTask(held, { mode: modeOf('Tx-Full'), schedule });
    expect(result).toMatchObject({
      success: false,
      propagated: 1,
      waiting: 1,
      retries: 0,
      judged: { present: 1 },
    });
  });

  test.each(MODES)(
    '$name: an uncallable step is an error of the task, not a fault',
    async (mode) => {
      const task = mockTask('t', { steps: 1, checkpoint: 'all' });
      const run = (step: Task['steps'][number]) =>
        runTask({ ...task, steps: [step] }, { mode, schedule: () => 'none' });
      await expect(run({ tool: 'app.empty', input: {} })).rejects.toThrow(
        /There is no tool app\.empty\. The tools are app\.fill/,
      );
      await expect(run({ tool: 'app.fill', input: {} })).rejects.toMatchObject({
        code: 'bad_input',
      });
    },
  );

  test('a torn call in an environment without parts is misuse, not a fault', async () => {
    const task = mockTask('t', { steps: 1, checkpoint: 'all' });
    for (const mode of MODES)
      await expect(runTask(task, { mode, schedule: () => 'torn' })).rejects.toThrow(TypeError);
  });

  test('a tool that only reads is tried again like any other', async () => {
    const reads: Task = {
      name: 't',
      steps: [{ tool: 'one.read', input: {} }],
      open: () => ({
        tools: [
          declareTool({
            name: 'one.read',
            input: (
              mockTask('x', { steps: 1, checkpoint: 'all' }).open() as Environment
            ).tools[0]!.spec.input.partial(),
            class: 'read',
            reads: ['app:one'],
            execute: () => 1,
          }),
        ],
        snapshot: () => null,
        restore: () => undefined,
        judge: () => ({ correct: true, expected: 0, present: 0, wrong: 0, contaminated: false }),
      }),
    };
    for (const fault of ['exception', 'lost'] as const) {
      const schedule: Schedule = (_task, _step, attempt) => (attempt < 2 ? fault : 'none');
      const ended = await runTask(reads, { mode: modeOf('Tx-Full'), schedule });
      expect(ended).toMatchObject({ success: true, faults: 2, retries: 2, recovered: 1 });
      expect(await runTask(reads, { mode: modeOf('No-Frontier'), schedule })).toMatchObject({
        success: false,
        propagated: 1,
      });
    }
  });
});
