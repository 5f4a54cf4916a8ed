import { constants } from 'node:os';

type Signal = 'SIGINT' | 'SIGTERM';

/**
 * The user interrupted the command (Ctrl-C, kill). Committed entries stay, and the store is closed
 * in order.
 */
export class Interrupted extends Error {
  readonly signal: Signal;
  readonly exitCode: number;

  /** The completed and the remaining work, as printed. */
  readonly done: string | undefined;

  /** `isWriting`: for a command that commits. */
  constructor(signal: Signal, isWriting = false, done?: string) {
    const stays = isWriting ? '; committed entries stay' : '';
    super(`Stopped by ${signal}${stays}${done === undefined ? '' : `: ${done}`}`);
    this.signal = signal;
    this.done = done;
    this.exitCode = 128 + constants.signals[signal];
  }
}

/**
 * A terminal and a parent process may both pass on one Ctrl-C. Only a later signal stops
 * immediately.
 */
const SECOND_AFTER_MS = 500;

const controller = new AbortController();
let askedAt: number | undefined;

/**
 * Aborted with an `Interrupted` at the first Ctrl-C or SIGTERM. Long work checks it between two
 * steps.
 */
export const interruption: AbortSignal = controller.signal;

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

let isListening = false;

/** From here on the first signal requests an orderly stop, and a second one stops immediately. */
export function listenForSignals(): void {
  isListening = true;
  for (const signal of SIGNALS) process.on(signal, stop);
}

/**
 * Runs a step that can block this thread for any time, as the read of a pipe does. Listeners cannot
 * run meanwhile, so a signal ends the process, as it does without listeners.
 */
export function whileBlocked<T>(step: () => T): T {
  if (!isListening) return step();
  for (const signal of SIGNALS) process.off(signal, stop);
  try {
    return step();
  } finally {
    for (const signal of SIGNALS) process.on(signal, stop);
  }
}

function stop(signal: NodeJS.Signals): void {
  const interrupted = new Interrupted(signal as Signal);
  if (askedAt !== undefined && performance.now() - askedAt > SECOND_AFTER_MS)
    process.exit(interrupted.exitCode);
  askedAt ??= performance.now();
  controller.abort(interrupted);
}
