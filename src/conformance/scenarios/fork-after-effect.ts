import { assertDone, assertPaused } from '../stage.ts';
import { approve, expected, note, pay, RUN, type Scenario } from './scenario.ts';

export const forkAfterEffect: Scenario = {
  name: 'fork-after-effect',
  title: 'a run is forked from before calls that were made',
  passes: 'no call is made again',
  why: 'Time travel of state does not take an effect back.',
  needs: ['restart', 'fork', 'siblings'],
  async run(stage) {
    const [free, held] = [note('n1', 'bob asks for 5'), pay('p1', 'bob', 500)];
    const first = await stage.open();
    assertPaused(await first.start(RUN, [free, held]), [held]);
    assertDone(await first.resume(RUN, approve(held)));
    await first.kill();
    const second = await stage.open();
    const end = await second.fork(RUN);
    // A person that is asked again is not told of the effect, and approves again.
    if (end.state === 'paused') await second.resume(RUN, approve(held));
    return [expected('once', free), expected('once', held)];
  },
};
