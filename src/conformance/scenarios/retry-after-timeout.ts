import { assertPaused } from '../stage.ts';
import { approve, expected, pay, RUN, type Scenario } from './scenario.ts';

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
