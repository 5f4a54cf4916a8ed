import { type ArgumentSchema, arg } from '#base';
import type { Approver } from '#calls';
import type { Configurable } from './place.ts';

/** The run that an answer came with, where a program puts the person that it has authenticated. */
export interface AnswerPlace {
  readonly configurable: Configurable;
  readonly context: unknown;
}

export interface LangChainOptions {
  /**
   * Names the person of an answer, such as `manager:grace`. Default: the program names none, and an
   * answer only makes the ledger be asked again.
   */
  readonly approver?: Approver<unknown, AnswerPlace>;
  /** The form of a pause. Default: `hitl`. */
  readonly interrupts?: 'hitl' | 'ag-ui';
  /** The thread of a run. Default: `configurable.thread_id`. */
  readonly thread?: (configurable: Configurable) => string | undefined;
  /** The tools of which a second call does no harm: they may be made again after a failure. */
  readonly idempotent?: readonly string[];
  /** How long a call waits for a person before the graph pauses. Default: as the gate. */
  readonly waitMs?: number;
}

export const LANGCHAIN_OPTIONS: ArgumentSchema = arg.options<LangChainOptions>({
  approver: arg.optional(arg.code),
  interrupts: arg.optional(arg.oneOf(['hitl', 'ag-ui'])),
  thread: arg.optional(arg.code),
  idempotent: arg.optional(arg.list(arg.text)),
  waitMs: arg.optional(arg.number),
});
