import { assertDone, assertPaused } from '../stage.ts';
import { approve, expected, pay, refund, type Scenario } from './scenario.ts';

/** The calls that come with the id of one that was made. */
const REPEATED = { arguments: pay('p1', 'mallory', 99_900), tool: refund('p1', 'bob', 500) } as const;

export const repeatedId: Scenario = {
  name: 'repeated-id',
  title: 'the id of a made call comes again, with other arguments or another tool',
  passes: 'the first call is made once, and the other one not without an approval of its own',
  why: 'Models number their calls, and begin again. An approval is about a call, not about a number.',
  needs: ['turns'],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    const driver = await stage.open();
    for (const run of Object.keys(REPEATED)) {
      assertPaused(await driver.start(run, [call]), [call]);
      assertDone(await driver.resume(run, approve(call)));
    }
    stage.seeNoMore();
    for (const [run, other] of Object.entries(REPEATED)) await driver.start(run, [other]);
    return Object.keys(REPEATED).map((run) => expected('once', call, run));
  },
};
