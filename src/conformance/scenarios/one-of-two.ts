import { assertPaused } from '../stage.ts';
import { approve, expected, pay, RUN, type Scenario } from './scenario.ts';

export const oneOfTwo: Scenario = {
  name: 'one-of-two',
  title: 'two calls wait, and one of them is approved',
  passes: 'the other one is not made',
  why: 'An approval without a name of its call is taken for both, or for the first.',
  needs: ['siblings', 'together'],
  async run(stage) {
    const [other, approved] = [pay('p1', 'mallory', 99_900), pay('p2', 'bob', 500)];
    const driver = await stage.open();
    assertPaused(await driver.start(RUN, [other, approved]), [other, approved]);
    await driver.resume(RUN, approve(approved));
    return [expected('never', other), expected('at-most-once', approved)];
  },
};
