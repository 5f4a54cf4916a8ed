import { assertPaused } from '../stage.ts';
import { approve, expected, pay, RUN, reject, type Scenario } from './scenario.ts';

export const deniedThenApproved: Scenario = {
  name: 'denied-then-approved',
  title: 'a call is denied, and approved afterwards',
  passes: 'it is not made',
  why: 'A denial is a decision. An approval that comes after it is about a call that is over.',
  needs: ['restart'],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    const first = await stage.open();
    assertPaused(await first.start(RUN, [call]), [call]);
    await first.resume(RUN, reject(call));
    await first.resume(RUN, approve(call));
    await first.kill();
    const second = await stage.open();
    await second.resume(RUN, approve(call));
    return [expected('never', call)];
  },
};
