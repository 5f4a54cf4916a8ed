import type { WantedCall } from '../protocol/messages.ts';
import { assertPaused, type Stage } from '../stage.ts';
import { approve, RUN } from './scenario.ts';

/** A call waits, another one is put in its place in the stored state, and the first is approved. */
export async function approveTampered(stage: Stage, call: WantedCall, stored: WantedCall): Promise<void> {
  const first = await stage.open();
  assertPaused(await first.start(RUN, [call]), [call]);
  await first.kill();
  const second = await stage.open();
  await second.tamper(RUN, stored);
  await second.resume(RUN, approve(call));
}
