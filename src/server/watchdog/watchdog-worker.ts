import { writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { setTimeout as sleep } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { thrownText } from '#base';
import type { SideStore } from '#ledger';
import { systemClock } from '#oracle';
import { openStore } from '#stores';
import { type Label, SlotReader } from './shared-slots.ts';
import type { StuckProposal } from './stuck-guard.ts';
import { STUCK_FRESH_MS, STUCK_KIND, stuckBody, stuckIn } from './stuck-rows.ts';
import { STUCK_EXIT_CODE, type WatchTask } from './watchdog.ts';

/** The time for the records, after which the process ends without them. */
const RECORD_MS = 1_500;

/** The time for an end with the exit code. After it the process is killed. */
const EXIT_MS = 500;

const { slots, url, limitMs, tickMs } = workerData as WatchTask;
const reader = new SlotReader(slots);

let beats = reader.beats;
let silentMs = 0;
// Time counts while this thread runs. A stopped process is silent too, and its thread does not run.
while (reader.rest(tickMs)) {
  const now = reader.beats;
  silentMs = now === beats ? silentMs + tickMs : 0;
  beats = now;
  if (silentMs >= limitMs) await end();
}

/** Names the proposals that run, records them, and ends the process. */
async function end(): Promise<void> {
  const labels = reader.labels();
  const shown = labels.map(({ trajectory, principal, action }) => ({ trajectory, principal, action }));
  say({ event: 'stuck', blocked_ms: silentMs, proposals: shown });
  const records = record(labels).catch((error: unknown) =>
    say({ event: 'stuck_unrecorded', error: thrownText(error) }),
  );
  await Promise.race([records, sleep(RECORD_MS)]);
  exitMainThread();
  await sleep(EXIT_MS);
  process.kill(process.pid, 'SIGKILL');
}

async function record(labels: readonly Label[]): Promise<void> {
  if (labels.length === 0 || url.startsWith('memory:')) return;
  const store = await openStore(url, { mode: 'existing', checkpoint: false });
  const state = labels.length === 1 ? 'stuck' : 'suspect';
  for (const { key, ...label } of labels) await put(store, key, { state, ...label, at: systemClock.now() });
  await store.close();
  await sleep(STUCK_FRESH_MS);
}

/** Keeps a record of a proposal that is certainly at fault. */
async function put(store: SideStore, key: string, stuck: StuckProposal): Promise<void> {
  for (let isPut = false; !isPut; ) {
    const row = await store.sideGet(STUCK_KIND, key);
    if (row !== undefined && stuckIn(row).state === 'stuck') return;
    isPut = await store.sidePut([{ kind: STUCK_KIND, key, expected: row?.version ?? null, body: stuckBody(stuck) }]);
  }
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
