import { crashAt, recover } from './crashed.ts';
import { expected, pay, type Scenario } from './scenario.ts';

export const crashReserved: Scenario = {
  name: 'crash-reserved',
  title: 'the process is killed before the sink takes the call',
  passes: 'the call is made at most once, and no success is told without it',
  why: 'A runtime cannot know here if the call took effect. It may ask, and may not guess.',
  needs: ['restart', 'retry'],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    await stage.sink.behave(call.id, { does: 'hold' });
    await crashAt(stage, { calls: [call], at: call });
    await stage.sink.release(call.id, { take: false });
    await recover(stage, [call]);
    return [expected('at-most-once', call)];
  },
};
