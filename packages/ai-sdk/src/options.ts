import { TOOL_OPTIONS, type ToolOptions } from '@assize/gate/internal/tool-calls';
import type { ModelMessage, ToolApprovalResponse } from 'ai';
import { type ArgumentSchema, arg } from 'assize/internal/base';

/** Where a call is made or answered, as the SDK tells a tool. */
export interface CallPlace {
  readonly toolCallId: string;
  readonly messages: readonly ModelMessage[];
  /** The context of the tool, from `toolsContext`. */
  readonly context: unknown;
}

export interface AiSdkOptions extends ToolOptions<ToolApprovalResponse, CallPlace> {
  /**
   * The run of the calls, such as the id of the conversation. A call is its run and the model's id
   * of it, so an id is used once in a run.
   */
  readonly run: string | ((place: CallPlace) => string | undefined);
  /**
   * The tools whose `execute` returns a stream of results without being an async generator. Of the
   * others, only the last result of a stream is given on.
   */
  readonly streaming?: readonly string[];
}

export const AI_SDK_OPTIONS: ArgumentSchema = arg.options<AiSdkOptions>({
  ...TOOL_OPTIONS,
  run: arg.of('the id of a run, or a function that names it', (run) =>
    typeof run === 'string' ? run !== '' : typeof run === 'function',
  ),
  streaming: arg.optional(arg.list(arg.text)),
});
