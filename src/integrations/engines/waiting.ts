import { type ArgumentSchema, arg, type Json } from '#base';
import type { HeldCall } from '#calls';
import { type AttemptEnd, lostError } from './attempt.ts';

/** How a run waits for a person, by the means of its engine. */
export interface WaitingOptions {
  /**
   * Is told of a call that waits, so that it can tell a person. A durable step of its own: its
   * errors are those of a step, and it is called again if the process stopped in it.
   */
  readonly onPending?: (held: HeldCall) => void | Promise<void>;
  /** The first time after which the ledger is asked again. It doubles. Default: 1,000. */
  readonly askAgainMs?: number;
  /** The longest time after which the ledger is asked again. Default: 300,000. */
  readonly askAgainMaxMs?: number;
}

export const WAITING: ArgumentSchema = arg.options<WaitingOptions>({
  onPending: arg.optional(arg.code),
  askAgainMs: arg.optional(arg.number),
  askAgainMaxMs: arg.optional(arg.number),
});

/** The steps of an engine in which a call is made. */
export interface Steps {
  /** Asks about the call and makes it, in a durable step with this name. */
  readonly ask: (name: string) => Promise<AttemptEnd>;
  /** Tells of a call that waits, in a durable step. */
  readonly tell: (held: HeldCall) => Promise<void>;
  /** Waits for a time, or for a message that the call is decided. */
  readonly wait: (ms: number) => Promise<void>;
}

/**
 * The result of a call, after every wait for a person. The steps depend only on their own results,
 * so a replay repeats them in the same order.
 *
 * @throws the error of a call without a result
 */
export async function resultOf<T extends Json | undefined>(
  key: string,
  steps: Steps,
  options: WaitingOptions,
): Promise<T> {
  let isTold = false;
  for (let round = 1; ; round++) {
    const end = await steps.ask(round === 1 ? key : `${key} (${round})`);
    if (end.end === 'done') return end.result as T;
    if (end.end === 'lost') throw lostError(end);
    if (end.held !== undefined && !isTold) {
      isTold = true;
      await steps.tell(end.held);
    }
    await steps.wait(delayOf(round, options));
  }
}

/** The time before the ledger is asked again, after this many questions. */
export function delayOf(
  round: number,
  { askAgainMs = 1_000, askAgainMaxMs = 300_000 }: Pick<WaitingOptions, 'askAgainMs' | 'askAgainMaxMs'>,
): number {
  return Math.min(askAgainMaxMs, askAgainMs * 2 ** Math.min(round - 1, 40));
}

/** The topic of a message that a waiting call is decided. The message decides nothing. */
export function wakeTopic(key: string): string {
  return `assize:${key}`;
}
