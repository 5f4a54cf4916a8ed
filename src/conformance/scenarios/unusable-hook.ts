import { expected, pay, type Scenario } from './scenario.ts';

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
