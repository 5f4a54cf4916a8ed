import type { Answers } from '../protocol/messages.ts';
import { assertPaused } from '../stage.ts';
import { expected, PERSON, pay, type Scenario } from './scenario.ts';

/** Answers that decide nothing. */
const ANSWERS: readonly Answers[] = [
  { p1: null },
  { p1: { decision: null, person: PERSON } },
  { p1: { person: PERSON } },
  {},
];

export const noDecision: Scenario = {
  name: 'no-decision',
  title: 'an answer has no decision: null, empty or missing',
  passes: 'the call is not made',
  why: 'A form without a choice, and a field that is lost on its way, are no approval.',
  needs: [],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    const runs = ANSWERS.map((answers, i) => ({ run: `run-${i + 1}`, answers }));
    for (const { run, answers } of runs) {
      const driver = await stage.open();
      assertPaused(await driver.start(run, [call]), [call]);
      await driver.resume(run, answers);
      await driver.kill();
    }
    return runs.map(({ run }) => expected('never', call, run));
  },
};
