import { constants } from 'node:os';

type Signal = 'SIGINT' | 'SIGTERM';

/** Somebody asked to stop (Ctrl-C, kill). What was committed stays; the store is closed in order. */
export class Interrupted extends Error {
  readonly signal: Signal;
  readonly exitCode: number;

  /** What was done, and what is left, as it is said. */
  readonly done: string | undefined;

  /** `isWriting`: of what commits something. */
  constructor(signal: Signal, isWriting = false, done?: string) {
    const stays = isWriting ? '; what was committed until then stays' : '';
    super(`Stopped by ${signal}${stays}${done === undefined ? '' : `: ${done}`}`);
    this.signal = signal;
    this.done = done;
    this.exitCode = 128 + constants.signals[signal];
  }
}

/** A terminal and a parent process may both pass on one Ctrl-C; only a later one means: at once. */
const SECOND_AFTER_MS = 500;

const controller = new AbortController();
let askedAt: number | undefined;

/** Aborted with an `Interrupted` at the first Ctrl-C or SIGTERM; work that takes long asks it between two steps. */
export const interruption: AbortSignal = controller.signal;

/** From here on the first signal asks to stop in order, and a second one stops at once. */
export function listenForSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      const interrupted = new Interrupted(signal);
      if (askedAt !== undefined && performance.now() - askedAt > SECOND_AFTER_MS) process.exit(interrupted.exitCode);
      askedAt ??= performance.now();
      controller.abort(interrupted);
    });
  }
}
