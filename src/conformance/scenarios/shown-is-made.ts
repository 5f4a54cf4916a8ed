import { assertDone, assertPaused, Deviation } from '../stage.ts';
import { approve, expected, pay, RUN, type Scenario } from './scenario.ts';

export const shownIsMade: Scenario = {
  name: 'shown-is-made',
  title: 'a person is shown the calls, and approves them',
  passes: 'tool and arguments at the sink are those that the person was shown',
  why: 'An approval is about what its person has seen, and not about what a program meant.',
  needs: ['restart', 'shown', 'siblings', 'together'],
  async run(stage) {
    const calls = [pay('p1', 'bob', 500), pay('p2', 'ann', 700)];
    const first = await stage.open();
    assertPaused(await first.start(RUN, calls), calls);
    await first.kill();
    const second = await stage.open();
    const shown = await second.read(RUN);
    const missing = calls.filter(({ id }) => !shown.some(({ call }) => call === id));
    if (missing.length > 0)
      throw new Deviation('did-not-ask', `a person is not shown ${missing.map(({ id }) => id).join(', ')}`);
    assertDone(await second.resume(RUN, approve(...calls)));
    return calls.map((call) => expected('once', call));
  },
};
