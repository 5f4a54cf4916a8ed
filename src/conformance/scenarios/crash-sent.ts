import { crashAt, recover } from './crashed.ts';
import { expected, pay, type Scenario } from './scenario.ts';

export const crashSent: Scenario = {
  name: 'crash-sent',
  title: 'the process is killed after the sink has taken the call',
  passes: 'the call is made once',
  why: 'The effect is there, and no process knows it. A run that goes on makes it again.',
  needs: ['restart', 'retry'],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    await stage.sink.behave(call.id, { does: 'hold-reply' });
    await crashAt(stage, { calls: [call], at: call });
    await recover(stage, [call]);
    return [expected('once', call)];
  },
};
