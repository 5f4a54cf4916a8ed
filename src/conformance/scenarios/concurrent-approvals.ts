import { assertPaused } from '../stage.ts';
import { approve, expected, pay, type Scenario } from './scenario.ts';

/** Each round is another run, as a race has other ends. */
const ROUNDS = ['run-1', 'run-2', 'run-3'];
const SLOW_MS = 150;

export const concurrentApprovals: Scenario = {
  name: 'concurrent-approvals',
  title: 'two processes get the approval at once',
  passes: 'the call is made once',
  why: 'Servers have several instances, and two people press the same button.',
  needs: ['restart'],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    const drivers = [await stage.open(), await stage.open()] as const;
    for (const run of ROUNDS) {
      assertPaused(await drivers[0].start(run, [call]), [call]);
      await stage.sink.behave(call.id, { does: 'late', ms: SLOW_MS });
      await Promise.all(drivers.map((driver) => driver.resume(run, approve(call))));
    }
    return ROUNDS.map((run) => expected('once', call, run));
  },
};
