import type { HeldCall } from '@assize/gate/internal/calls';
import { type ArgumentSchema, arg, type Json } from 'assize/internal/base';
import { type AttemptEnd, lostError, type WaitingEnd } from './attempt.ts';
import type { DoubtfulCall } from './doubtful-call.ts';

/** How often the ledger is asked about a call that waits for a person or for an outcome. */
export interface AskingOptions {
  /** The first time after which the ledger is asked again. It doubles. Default: 1,000. */
  readonly askAgainMs?: number;
  /** The longest time after which the ledger is asked again. Default: 300,000. */
  readonly askAgainMaxMs?: number;
}

/** How a run waits for a person or for an outcome, by the means of its engine. */
export interface WaitingOptions extends AskingOptions {
  /**
   * Called with a call that waits, so that it can notify a person. A separate durable step: its
   * errors are those of a step, and it is called again if the process stopped in it.
   */
  readonly onPending?: (held: HeldCall) => void | Promise<void>;
  /** Called with a call whose outcome is not known, in a separate durable step. */
  readonly onDoubt?: (doubtful: DoubtfulCall) => void | Promise<void>;
}

export const WAITING: ArgumentSchema = arg.options<WaitingOptions>({
  onPending: arg.optional(arg.code),
  onDoubt: arg.optional(arg.code),
  askAgainMs: arg.optional(arg.number),
  askAgainMaxMs: arg.optional(arg.number),
});

/** The steps of an engine in which a call is made. */
export interface Steps {
  /** Asks about the call and makes it, in a durable step with this name. */
  readonly ask: (name: string) => Promise<AttemptEnd>;
  /** Tells why the run waits, in a durable step. */
  readonly tell: (news: News) => Promise<void>;
  /** Waits for a time, or for a message that the call is decided or settled. */
  readonly wait: (ms: number) => Promise<void>;
}

/** The reason for which a run waits, told once. */
export interface News {
  /** The name of the step. */
  readonly step: string;
  readonly call: HeldCall | DoubtfulCall;
  /** Tells the program, if it wants to know. */
  readonly tell?: () => void | Promise<void>;
}

/**
 * The result of a call, after every wait for a person or for an outcome. The steps depend only on
 * their own results, so a replay repeats them in the same order.
 *
 * @throws the error of a call without a result
 */
export async function resultOf<T extends Json | undefined>(
  key: string,
  steps: Steps,
  options: WaitingOptions,
): Promise<T> {
  const told = new Set<string>();
  for (let round = 1; ; round++) {
    const end = await steps.ask(round === 1 ? key : `${key} (${round})`);
    if (end.end === 'done') return end.result as T;
    if (end.end === 'lost') throw lostError(end);
    const news = newsOf(key, end, options);
    if (news !== undefined && !told.has(news.step)) {
      told.add(news.step);
      await steps.tell(news);
    }
    await steps.wait(delayOf(round, options));
  }
}

function newsOf(
  key: string,
  end: WaitingEnd,
  { onPending, onDoubt }: WaitingOptions,
): News | undefined {
  if (end.end === 'doubt') {
    const { doubtful: call } = end;
    return { step: `${key} is in doubt`, call, ...(onDoubt && { tell: () => onDoubt(call) }) };
  }
  const { held: call } = end;
  return call && { step: `${key} waits`, call, ...(onPending && { tell: () => onPending(call) }) };
}

/** The time before the ledger is asked again, after this many questions. */
export function delayOf(
  round: number,
  { askAgainMs = 1_000, askAgainMaxMs = 300_000 }: AskingOptions,
): number {
  return Math.min(askAgainMaxMs, askAgainMs * 2 ** Math.min(round - 1, 40));
}

/** The topic of a message that a call is decided or settled. The message decides nothing. */
export function wakeTopic(key: string): string {
  return `assize:${key}`;
}
