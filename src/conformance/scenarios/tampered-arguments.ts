import { assertPaused } from '../stage.ts';
import { approve, expected, pay, RUN, type Scenario } from './scenario.ts';

export const tamperedArguments: Scenario = {
  name: 'tampered-arguments',
  title: 'the stored arguments are changed before the approval',
  passes: 'nothing but the call that was shown is made',
  why: 'Stored state is in reach of more people and programs than may approve a payment.',
  needs: ['restart', 'tamper'],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    const first = await stage.open();
    assertPaused(await first.start(RUN, [call]), [call]);
    await first.kill();
    const second = await stage.open();
    await second.tamper(RUN, pay('p1', 'mallory', 99_900));
    await second.resume(RUN, approve(call));
    return [expected('at-most-once', call)];
  },
};
