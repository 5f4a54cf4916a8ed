import type { WantedCall } from '../protocol/messages.ts';
import { assertDone, assertPaused, Deviation, type Stage } from '../stage.ts';
import { approve, expected, pay, RUN, refund, reject, type Scenario } from './scenario.ts';

/** A call waits, another one is put in its place in the stored state, and the first is approved. */
async function approveTampered(stage: Stage, call: WantedCall, stored: WantedCall): Promise<void> {
  const first = await stage.open();
  assertPaused(await first.start(RUN, [call]), [call]);
  await first.kill();
  const second = await stage.open();
  await second.tamper(RUN, stored);
  await second.resume(RUN, approve(call));
}

export const tamperedArguments: Scenario = {
  name: 'tampered-arguments',
  title: 'the stored arguments are changed before the approval',
  passes: 'nothing but the call that was shown is made',
  why: 'Stored state is in reach of more people and programs than may approve a payment.',
  needs: ['restart', 'tamper'],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    await approveTampered(stage, call, pay('p1', 'mallory', 99_900));
    return [expected('at-most-once', call)];
  },
};

export const otherTool: Scenario = {
  name: 'other-tool',
  title: 'the stored tool is changed before the approval, with the same arguments',
  passes: 'nothing but the call that was shown is made',
  why: 'An approval names a tool too. The same arguments mean another thing to another one.',
  needs: ['restart', 'tamper'],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    await approveTampered(stage, call, refund('p1', 'bob', 500));
    return [expected('at-most-once', call)];
  },
};

/** The calls that come with the id of one that was made. */
const REPEATED = {
  arguments: pay('p1', 'mallory', 99_900),
  tool: refund('p1', 'bob', 500),
} as const;

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
      throw new Deviation(
        'did-not-ask',
        `a person is not shown ${missing.map(({ id }) => id).join(', ')}`,
      );
    assertDone(await second.resume(RUN, approve(...calls)));
    return calls.map((call) => expected('once', call));
  },
};
