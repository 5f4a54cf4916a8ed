import { assertDone, assertPaused } from '../stage.ts';
import { approve, assertUnmade, expected, note, pay, RUN, type Scenario } from './scenario.ts';

/** Long enough for a request to arrive, also on a busy machine. */
const TIMEOUT_MS = 1_000;

export const retryAfterTimeout: Scenario = {
  name: 'retry-after-timeout',
  title: 'the sink answers too late, and the run is tried again',
  passes: 'the call is made once',
  why: 'A time-out says that no answer came, and not that there is no effect.',
  needs: ['retry'],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    await stage.sink.behave(call.id, { does: 'late', ms: TIMEOUT_MS * 3 });
    const driver = await stage.open({ timeoutMs: TIMEOUT_MS });
    assertPaused(await driver.start(RUN, [call]), [call]);
    await driver.resume(RUN, approve(call));
    await driver.retry(RUN);
    return [expected('once', call)];
  },
};

export const newIdAfterError: Scenario = {
  name: 'new-id-after-error',
  title: 'the reply is lost, and the model asks for the call again with a new id',
  passes: 'the first call is made once, and the new one not without an approval of its own',
  why: 'A model that receives an error tries again. The effect may be there, and only a person can decide.',
  needs: ['turns'],
  async run(stage) {
    const [call, again] = [pay('p1', 'bob', 500), pay('p2', 'bob', 500)];
    await stage.sink.behave(call.id, { does: 'drop' });
    const driver = await stage.open();
    assertPaused(await driver.start(RUN, [call]), [call]);
    await driver.resume(RUN, approve(call));
    await driver.start(RUN, [again]);
    return [expected('once', call), expected('never', again)];
  },
};

export const siblings: Scenario = {
  name: 'siblings',
  title: 'of two calls in one message, one waits',
  passes: 'each is made once, and the one that waits after its approval',
  why: 'A step that is run again after a pause makes the other calls of its message again.',
  needs: ['restart', 'siblings'],
  async run(stage) {
    const [free, held] = [note('n1', 'bob asks for 5'), pay('p1', 'bob', 500)];
    const first = await stage.open();
    assertPaused(await first.start(RUN, [free, held]), [held]);
    await assertUnmade(stage, held);
    await first.kill();
    const second = await stage.open();
    assertDone(await second.resume(RUN, approve(held)));
    return [expected('once', free), expected('once', held)];
  },
};
