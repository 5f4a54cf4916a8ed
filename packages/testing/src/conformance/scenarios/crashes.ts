import { setTimeout as pause } from 'node:timers/promises';
import type { WantedCall } from '../protocol/messages.ts';
import { assertDone, assertPaused, type Stage } from '../stage.ts';
import { approve, expected, note, pay, RUN, type Scenario, untilArrived } from './scenario.ts';

interface CrashPoint {
  /** The calls of the message. All wait for a person. */
  readonly calls: readonly WantedCall[];
  /** The call whose request is at the sink when the process ends. */
  readonly at: WantedCall;
  /** A call whose result the driver has for a while by then. */
  readonly after?: WantedCall;
}

/** The time in which a runtime keeps a result. */
const KEPT_MS = 500;

/** Approves the calls, and ends the driver's process when a request is at the sink. */
async function crashAt(stage: Stage, { calls, at, after }: CrashPoint): Promise<void> {
  const driver = await stage.open();
  assertPaused(await driver.start(RUN, calls), calls);
  const resumed = driver.resume(RUN, approve(...calls));
  await untilArrived(stage, at);
  if (after !== undefined) {
    await untilArrived(stage, after);
    await pause(KEPT_MS);
  }
  await driver.kill();
  await resumed;
}

/** Goes on in a new process. A person that is asked again approves again. */
export async function recover(stage: Stage, calls: readonly WantedCall[]): Promise<void> {
  const driver = await stage.open();
  const end = await driver.retry(RUN);
  if (end.state !== 'paused') return;
  const asked = new Set(end.waiting.map(({ call }) => call));
  await driver.resume(RUN, approve(...calls.filter(({ id }) => asked.has(id))));
}

export const crashReserved: Scenario = {
  name: 'crash-reserved',
  title: 'the process is killed before the sink takes the call',
  passes: 'the call is made at most once, and no success is reported without it',
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

export const crashRecorded: Scenario = {
  name: 'crash-recorded',
  title: 'the process is killed after a result, while a sibling runs',
  passes: 'the call with the result is made once, and its sibling at most once',
  why: 'A result that is not stored immediately is lost with the step, and the step is run again.',
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

export const forkAfterEffect: Scenario = {
  name: 'fork-after-effect',
  title: 'a run is forked from before calls that were made',
  passes: 'no call is made again',
  why: 'Time travel of state does not take an effect back.',
  needs: ['restart', 'fork', 'siblings'],
  async run(stage) {
    const [free, held] = [note('n1', 'bob asks for 5'), pay('p1', 'bob', 500)];
    const first = await stage.open();
    assertPaused(await first.start(RUN, [free, held]), [held]);
    assertDone(await first.resume(RUN, approve(held)));
    await first.kill();
    const second = await stage.open();
    const end = await second.fork(RUN);
    // A person that is asked again is not told of the effect, and approves again.
    if (end.state === 'paused') await second.resume(RUN, approve(held));
    return [expected('once', free), expected('once', held)];
  },
};
