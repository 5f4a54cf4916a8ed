import { approve, expected, pay, RUN, type Scenario } from './scenario.ts';

/** The time in which a runtime that fails open makes the call. */
const PATIENCE_MS = 4_000;

export const silentHook: Scenario = {
  name: 'silent-hook',
  title: 'the function that takes part in the decision never answers',
  passes: 'the call is not made',
  why: 'A check that is skipped when it is slow does not protect.',
  needs: ['hook'],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    const driver = await stage.open({ hook: 'silent' });
    const end = await driver.start(RUN, [call], PATIENCE_MS);
    if (end.state === 'paused') await driver.resume(RUN, approve(call), PATIENCE_MS);
    await driver.kill();
    return [expected('never', call)];
  },
};

const HOOKS = ['word', 'object'] as const;

export const unusableHook: Scenario = {
  name: 'unusable-hook',
  title: 'the function that takes part in the decision answers with no decision',
  passes: 'the call is not made without an approval',
  why: 'A check whose answer is not understood has not allowed the call.',
  needs: ['hook'],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    for (const hook of HOOKS) {
      const driver = await stage.open({ hook });
      await driver.start(hook, [call]);
    }
    return HOOKS.map((hook) => expected('never', call, hook));
  },
};
