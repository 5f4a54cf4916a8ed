import { crashAt, recover } from './crashed.ts';
import { expected, pay, type Scenario } from './scenario.ts';

export const crashRecorded: Scenario = {
  name: 'crash-recorded',
  title: 'the process is killed after a result, while a sibling runs',
  passes: 'the call with the result is made once, and its sibling at most once',
  why: 'A result that is not kept at once is lost with the step, and the step is run again.',
  needs: ['restart', 'retry', 'siblings', 'together'],
  async run(stage) {
    const [ended, sibling] = [pay('p1', 'bob', 500), pay('p2', 'ann', 700)];
    await stage.sink.behave(sibling.id, { does: 'hold' });
    await crashAt(stage, { calls: [ended, sibling], at: sibling, after: ended });
    await stage.sink.release(sibling.id, { take: false });
    await recover(stage, [ended, sibling]);
    return [expected('once', ended), expected('at-most-once', sibling)];
  },
};
