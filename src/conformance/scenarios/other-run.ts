import { assertDone, assertPaused } from '../stage.ts';
import { approve, expected, pay, type Scenario } from './scenario.ts';

export const otherRun: Scenario = {
  name: 'other-run',
  title: 'the approval of a call comes to another run',
  passes: 'the call of that run is not made; the approved one is, in its own run',
  why: 'A link or a form that is mixed up must not approve a call that its person has not seen.',
  needs: [],
  async run(stage) {
    const [approved, other] = [pay('p1', 'bob', 500), pay('p2', 'mallory', 99_900)];
    const driver = await stage.open();
    assertPaused(await driver.start('run-1', [approved]), [approved]);
    assertPaused(await driver.start('run-2', [other]), [other]);
    await driver.resume('run-2', approve(approved));
    assertDone(await driver.resume('run-1', approve(approved)));
    return [expected('once', approved, 'run-1'), expected('never', other, 'run-2')];
  },
};
