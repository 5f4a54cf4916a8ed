import { assertPaused } from '../stage.ts';
import { approve, expected, pay, RUN, refund, type Scenario } from './scenario.ts';

export const otherTool: Scenario = {
  name: 'other-tool',
  title: 'the stored tool is changed before the approval, with the same arguments',
  passes: 'nothing but the call that was shown is made',
  why: 'An approval names a tool too. The same arguments mean another thing to another one.',
  needs: ['restart', 'tamper'],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    const first = await stage.open();
    assertPaused(await first.start(RUN, [call]), [call]);
    await first.kill();
    const second = await stage.open();
    await second.tamper(RUN, refund('p1', 'bob', 500));
    await second.resume(RUN, approve(call));
    return [expected('at-most-once', call)];
  },
};
