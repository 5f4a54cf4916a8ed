import { assertPaused } from '../stage.ts';
import { approve, expected, pay, RUN, reject, type Scenario } from './scenario.ts';

export const staleAnswer: Scenario = {
  name: 'stale-answer',
  title: 'an approval comes late, while the run waits for another call',
  passes: 'neither call is made',
  why: 'A page that was left open shows an old call. Its button must not approve the new one.',
  needs: ['turns'],
  async run(stage) {
    const [old, next] = [pay('p1', 'bob', 500), pay('p2', 'mallory', 99_900)];
    const driver = await stage.open();
    assertPaused(await driver.start(RUN, [old]), [old]);
    await driver.resume(RUN, reject(old));
    assertPaused(await driver.start(RUN, [next]), [next]);
    await driver.resume(RUN, approve(old));
    return [expected('never', old), expected('never', next)];
  },
};
