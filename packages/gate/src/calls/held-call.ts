import type { Json } from 'assize/internal/base';
import type { Hash } from 'assize/internal/ledger';

/** A call that waits for a person, as the pause of a framework tells it. */
export interface HeldCall {
  /** The run, thread or conversation. */
  readonly run: string;
  /** The framework's id of the call. */
  readonly id: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, Json>>;
  /** The id of the call in the ledger. */
  readonly call: string;
  /** The id of the question: about this call, or about another one that blocks it. */
  readonly approval: Hash;
  /**
   * The hash of exactly this call. A decision names it. Absent: the question is about another call,
   * and is answered where that call is shown.
   */
  readonly digest?: Hash;
  /** The rules that ask, and why. */
  readonly reason: string;
  /** The page of the call in the console, if there is a server. */
  readonly page?: string;
}

/**
 * Names the person that the program has authenticated for an answer, such as `manager:grace`.
 * Undefined: the answer decides nothing, and the ledger is asked again.
 */
export type Approver<Answer = unknown, Context = unknown> = (
  answer: Answer,
  held: HeldCall,
  context: Context,
) => string | undefined | Promise<string | undefined>;
