import { assertPaused } from '../stage.ts';
import { approve, expected, pay, RUN, type Scenario } from './scenario.ts';

export const doubleResume: Scenario = {
  name: 'double-resume',
  title: 'the same approval is sent twice',
  passes: 'the call is made once',
  why: 'Browsers, queues and webhooks send a request again, also to another process.',
  needs: ['restart'],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    const first = await stage.open();
    assertPaused(await first.start(RUN, [call]), [call]);
    await first.resume(RUN, approve(call));
    await first.resume(RUN, approve(call));
    await first.kill();
    const second = await stage.open();
    await second.resume(RUN, approve(call));
    return [expected('once', call)];
  },
};
