/** A thread of `experiments-aside.ts`: runs one experiment after the other, as it is asked to. */
import { parentPort } from 'node:worker_threads';
import { isAssizeError } from 'assize';
import { EXPERIMENTS } from '../effects/index.ts';
import type { Failed, FromThread, ToThread } from './in-threads.ts';

/** Between two words on how far it is. */
const SAID_MS = 200;

const port = parentPort!;
const say = (said: FromThread): void => port.postMessage(said);
const stopping = new AbortController();

port.on('message', async (asked: ToThread) => {
  if (asked === 'stop') {
    stopping.abort();
    return;
  }
  const { name, settings } = asked;
  let saidAt = 0;
  const progress = (done: number, of: number): void => {
    if (performance.now() - saidAt < SAID_MS) return;
    saidAt = performance.now();
    say({ done, of });
  };
  try {
    const experiment = EXPERIMENTS.find((each) => each.name === name)!;
    say({ tables: await experiment.run({ ...settings, signal: stopping.signal, progress }) });
  } catch (error) {
    say({ failed: failedWith(error) });
  }
});

function failedWith(error: unknown): Failed {
  if (!(error instanceof Error)) return { message: String(error), stack: String(error) };
  const { message, stack = message } = error;
  if (isAssizeError(error)) return { message, stack, code: error.code };
  const { code, syscall } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && syscall !== undefined
    ? { message, stack, code, syscall }
    : { message, stack };
}
