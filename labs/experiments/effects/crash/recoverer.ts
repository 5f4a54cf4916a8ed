/**
 * A process that recovers the abandoned work of another process and is killed at a step of the
 * recovery. Its one argument is a `Recovery`.
 */
import { flushCompileCache } from 'node:module';
import { openStore } from 'assize/internal/stores';
import type { Recovery } from './points.ts';
import { Shop, toolsOf } from './shop.ts';
import { type Step, Stepping } from './steps.ts';

const { url, port, sink, step } = JSON.parse(process.argv[2] ?? '') as Recovery;

// For the next process: a killed process saves no compile cache.
flushCompileCache();
const stepping = new Stepping(({ kind, nth }: Step) => {
  const isByTheSink = kind === 'while the sink does that';
  if (kind === step.kind && nth === step.nth && !isByTheSink) process.kill(process.pid, 'SIGKILL');
});
const shop = new Shop(stepping.over(await openStore(url)), toolsOf(port, sink, stepping.at));
await shop.assize.recoverEffects();
throw new Error(`The process was not killed at ${JSON.stringify(step)}.`);
