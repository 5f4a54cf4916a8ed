import { setTimeout as pause } from 'node:timers/promises';
import { assertPaused } from '../stage.ts';
import { approve, expected, pay, RUN, type Scenario } from './scenario.ts';

const EXPIRES_MS = 1_000;

export const expired: Scenario = {
  name: 'expired',
  title: 'the approval comes after the question has expired',
  passes: 'the call is not made',
  why: 'The reasons for a call get old. An approval of last week is about another world.',
  needs: ['restart', 'expiry'],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    const first = await stage.open({ expiresMs: EXPIRES_MS });
    assertPaused(await first.start(RUN, [call]), [call]);
    await first.kill();
    await pause(EXPIRES_MS * 1.5);
    const second = await stage.open({ expiresMs: EXPIRES_MS });
    await second.resume(RUN, approve(call));
    return [expected('never', call)];
  },
};
