import type { PersonAnswer } from '../protocol/messages.ts';
import { assertPaused, type Stage } from '../stage.ts';
import { expected, pay, type Scenario } from './scenario.ts';

/** Gives each answer to a run of its own. An absent one is left out. None may have an effect. */
export function decidingNothing(answers: readonly (PersonAnswer | undefined)[]): Scenario['run'] {
  return async (stage: Stage) => {
    const call = pay('p1', 'bob', 500);
    const runs = answers.map((answer, i) => ({ run: `run-${i + 1}`, answer }));
    let driver = await stage.open();
    for (const { run, answer } of runs) {
      assertPaused(await driver.start(run, [call]), [call]);
      const end = await driver.resume(run, answer === undefined ? {} : { [call.id]: answer });
      if (end.state === 'ended') driver = await stage.open();
    }
    return runs.map(({ run }) => expected('never', call, run));
  };
}
