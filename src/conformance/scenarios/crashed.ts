import { setTimeout as pause } from 'node:timers/promises';
import type { WantedCall } from '../protocol/messages.ts';
import { assertPaused, type Stage } from '../stage.ts';
import { approve, RUN, untilArrived } from './scenario.ts';

export interface CrashPoint {
  /** The calls of the message, which all wait for a person. */
  readonly calls: readonly WantedCall[];
  /** The call whose request is at the sink when the process ends. */
  readonly at: WantedCall;
  /** A call whose result the driver has for a while by then. */
  readonly after?: WantedCall;
}

/** The time in which a runtime keeps a result. */
const KEPT_MS = 500;

/** Approves the calls, and ends the driver's process when a request is at the sink. */
export async function crashAt(stage: Stage, { calls, at, after }: CrashPoint): Promise<void> {
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
