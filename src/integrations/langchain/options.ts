import { type ArgumentSchema, arg, isInstance } from '#base';
import { Gate } from '#calls';
import type { Configurable } from './place.ts';

/** A held call, as its answer is judged. */
export interface HeldCall {
  readonly thread: string;
  /** The model's id of the call. */
  readonly id: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The id of the question in the ledger. */
  readonly approval: string;
  /** The configuration of the run, where a program puts the person that it has authenticated. */
  readonly configurable: Configurable;
  /** The context of the run. */
  readonly context: unknown;
}

/** Names the person that the program has authenticated, such as `manager:grace`. */
export type Approver = (answer: unknown, held: HeldCall) => string | undefined | Promise<string | undefined>;

export interface LangChainOptions {
  /**
   * Names the person of an answer, such as `manager:grace`. Default: the program names none, and an
   * answer only makes the ledger be asked again.
   */
  readonly approver?: Approver;
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

export const GATE: ArgumentSchema = arg.of('a gate of openGate or connectGate', (value) => isInstance(value, Gate));
