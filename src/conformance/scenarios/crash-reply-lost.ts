import { assertPaused } from '../stage.ts';
import { recover } from './crashed.ts';
import { approve, expected, pay, RUN, type Scenario } from './scenario.ts';

export const crashReplyLost: Scenario = {
  name: 'crash-reply-lost',
  title: 'the reply of the sink is lost, and then the process',
  passes: 'the call is made once',
  why: 'A connection that breaks after the effect looks like a call that failed.',
  needs: ['restart', 'retry'],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    await stage.sink.behave(call.id, { does: 'drop' });
    const driver = await stage.open();
    assertPaused(await driver.start(RUN, [call]), [call]);
    await driver.resume(RUN, approve(call));
    await driver.kill();
    await recover(stage, [call]);
    return [expected('once', call)];
  },
};
