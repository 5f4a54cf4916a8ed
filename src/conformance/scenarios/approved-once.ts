import { assertDone, assertPaused } from '../stage.ts';
import { approve, expected, pay, RUN, type Scenario } from './scenario.ts';

export const approvedOnce: Scenario = {
  name: 'approved-once',
  title: 'a call is approved',
  passes: 'it is made once, after its approval, and the run ends',
  why: 'A runtime that makes nothing would pass every other scenario.',
  needs: [],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    const driver = await stage.open();
    assertPaused(await driver.start(RUN, [call]), [call]);
    assertDone(await driver.resume(RUN, approve(call)));
    return [expected('once', call)];
  },
};
