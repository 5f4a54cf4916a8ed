import { writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { setTimeout as sleep } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { thrownText } from 'assize/internal/base';
import type { Instant } from 'assize/internal/ledger';
import { systemClock } from 'assize/internal/oracle';
import type { DomainRun } from 'assize/internal/runtime';
import { openStore } from 'assize/internal/stores';
import { RunReader } from './shared-run.ts';
import { REFRESH_MS } from './stuck-index.ts';
import { STUCK_KIND, stuckBody, stuckKey, stuckOf } from './stuck-rows.ts';
import { STUCK_EXIT_CODE, type WatchTask } from './watchdog.ts';

/**
 * Work that is no code of a domain follows what the process was given, and ends. A process that was
 * ended in it would begin the same work again. So it has so many times the limit.
 */
const UNNAMED_TIMES = 6;

/** The time for the records, after which the process ends without them. */
const RECORD_MS = 3_000;

/** The time in which every other server reads the record, so that it refuses a repetition. */
const SEEN_MS = 1.5 * REFRESH_MS;

/** The time for an end with the exit code. After it the process is killed. */
const EXIT_MS = 500;

const { shared, url, limitMs, tickMs } = workerData as WatchTask;
const reader = new RunReader(shared);

let beats = reader.beats;
let silentMs = 0;
// Time counts while this thread runs. A stopped process is silent too, and its thread does not run.
while (reader.rest(tickMs)) {
  const now = reader.beats;
  silentMs = now === beats ? silentMs + tickMs : 0;
  beats = now;
  if (silentMs < limitMs) continue;
  const run = reader.runSince(now);
  if (run !== undefined && (run !== null || silentMs >= limitMs * UNNAMED_TIMES)) await end(run);
}

/** Names the run of domain code, records it, and ends the process. */
async function end(run: DomainRun | null): Promise<void> {
  const at = systemClock.now();
  say({
    event: 'stuck',
    blocked_ms: silentMs,
    ...(run !== null && { run: { ...stuckOf(run, at), key: stuckKey(run) } }),
  });
  if (run !== null && !url.startsWith('memory:')) {
    const recorded = record(run, at).then(
      () => sleep(SEEN_MS),
      (error: unknown) => say({ event: 'stuck_unrecorded', error: thrownText(error) }),
    );
    await Promise.race([recorded, sleep(RECORD_MS)]);
  }
  exitMainThread();
  await sleep(EXIT_MS);
  process.kill(process.pid, 'SIGKILL');
}

/** A record that is there already stays. */
async function record(run: DomainRun, at: Instant): Promise<void> {
  const store = await openStore(url, { mode: 'existing', checkpoint: false });
  await store.sidePut([{ kind: STUCK_KIND, key: stuckKey(run), expected: null, body: stuckBody(stuckOf(run, at)) }]);
  await store.close();
}

/** The main thread is blocked, so it writes nothing and cannot be asked to exit. */
function exitMainThread(): void {
  const session = new Session();
  session.connectToMainThread();
  session.on('Debugger.paused', ({ params }) => {
    const callFrameId = params.callFrames[0]?.callFrameId;
    const expression = `process.reallyExit(${STUCK_EXIT_CODE})`;
    if (callFrameId !== undefined) session.post('Debugger.evaluateOnCallFrame', { callFrameId, expression });
  });
  session.post('Debugger.enable');
  session.post('Debugger.pause');
}

/** Written at once: standard error of a thread goes through the main thread. */
function say(fields: Readonly<Record<string, unknown>>): void {
  writeSync(2, `${JSON.stringify({ time: systemClock.now(), level: 'error', ...fields })}\n`);
}
