import { assertDone, assertPaused } from '../stage.ts';
import { approve, expected, note, pay, RUN, type Scenario } from './scenario.ts';

export const siblings: Scenario = {
  name: 'siblings',
  title: 'of two calls in one message, one waits',
  passes: 'each is made once, and the one that waits after its approval',
  why: 'A step that is run again after a pause makes the other calls of its message again.',
  needs: ['restart', 'siblings'],
  async run(stage) {
    const [free, held] = [note('n1', 'bob asks for 5'), pay('p1', 'bob', 500)];
    const first = await stage.open();
    assertPaused(await first.start(RUN, [free, held]), [held]);
    await first.kill();
    const second = await stage.open();
    assertDone(await second.resume(RUN, approve(held)));
    return [expected('once', free), expected('once', held)];
  },
};
