import { writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { workerData } from 'node:worker_threads';
import { systemClock } from 'assize/internal/oracle';
import { STUCK_EXIT_CODE, type WatchTask } from './watchdog.ts';

/** The main thread has this time for its exit. After it the process is killed. */
const EXIT_MS = 500;
const FRAMES_MAX = 10;

const { beats, limitMs, tickMs } = workerData as WatchTask;
let seen = Atomics.load(beats, 0);
let silentMs = 0;
// Time counts while this thread runs. A stopped process is silent too, and its thread does not run.
const looking = setInterval(() => {
  const now = Atomics.load(beats, 0);
  silentMs = now === seen ? silentMs + tickMs : 0;
  seen = now;
  if (silentMs >= limitMs) end();
}, tickMs);

/** The blocked main thread cannot be asked to exit: the debugger pauses it, and exits there. */
function end(): void {
  clearInterval(looking);
  const session = new Session();
  session.connectToMainThread();
  session.once('Debugger.paused', ({ params: { callFrames } }) => {
    say(
      callFrames.map(
        ({ functionName, url, location }) => `${functionName} ${url}:${location.lineNumber + 1}`,
      ),
    );
    const callFrameId = callFrames[0]?.callFrameId ?? '';
    const expression = `process.reallyExit(${STUCK_EXIT_CODE})`;
    session.post('Debugger.evaluateOnCallFrame', { callFrameId, expression });
  });
  session.post('Debugger.enable');
  session.post('Debugger.pause');
  setTimeout(() => {
    say([]);
    process.kill(process.pid, 'SIGKILL');
  }, EXIT_MS);
}

/** Written directly: standard error of a thread goes through the main thread. */
function say(frames: readonly string[]): void {
  const line = { time: systemClock.now(), level: 'error', event: 'stuck', blocked_ms: silentMs };
  writeSync(2, `${JSON.stringify({ ...line, at: frames.slice(0, FRAMES_MAX) })}\n`);
}
