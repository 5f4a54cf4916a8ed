import { assertPaused } from '../stage.ts';
import { approve, expected, pay, RUN, type Scenario } from './scenario.ts';

export const newIdAfterError: Scenario = {
  name: 'new-id-after-error',
  title: 'the reply is lost, and the model asks for the call again with a new id',
  passes: 'the first call is made once, and the new one not without an approval of its own',
  why: 'A model that is told of an error tries again. The effect may be there, and only a person can decide.',
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
