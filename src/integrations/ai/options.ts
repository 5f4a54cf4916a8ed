import type { ModelMessage, ToolApprovalResponse } from 'ai';
import { type ArgumentSchema, arg } from '#base';
import type { Approver } from '#calls';

/** Where a call is made or answered, as the SDK tells a tool. */
export interface CallPlace {
  readonly toolCallId: string;
  readonly messages: readonly ModelMessage[];
  /** The context of the tool, from `toolsContext`. */
  readonly context: unknown;
}

export interface AiSdkOptions {
  /**
   * The run of the calls, such as the id of the conversation. A call is its run and the model's id
   * of it, so an id is used once in a run.
   */
  readonly run: string | ((place: CallPlace) => string | undefined);
  /**
   * Names the person of an answer, such as `manager:grace`. Default: the program names none, and an
   * answer only makes the ledger be asked again.
   */
  readonly approver?: Approver<ToolApprovalResponse, CallPlace>;
  /** The tools of which a second call does no harm: they may be made again after a failure. */
  readonly idempotent?: readonly string[];
  /**
   * The tools whose `execute` returns a stream of results without being an async generator. Of the
   * others, only the last result of a stream is given on.
   */
  readonly streaming?: readonly string[];
  /** How long a call waits for a person before it is held. Default: as the gate. */
  readonly waitMs?: number;
}

export const AI_SDK_OPTIONS: ArgumentSchema = arg.options<AiSdkOptions>({
  run: arg.of('the id of a run, or a function that names it', (run) =>
    typeof run === 'string' ? run !== '' : typeof run === 'function',
  ),
  approver: arg.optional(arg.code),
  idempotent: arg.optional(arg.list(arg.text)),
  streaming: arg.optional(arg.list(arg.text)),
  waitMs: arg.optional(arg.number),
});
