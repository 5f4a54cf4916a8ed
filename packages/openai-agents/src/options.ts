import { TOOL_OPTIONS, type ToolOptions } from '@assize/gate/internal/tool-calls';
import type { RunContext } from '@openai/agents';
import { type ArgumentSchema, arg } from 'assize/internal/base';

/** The answer that a program has given to a paused call with `state.approve` or `state.reject`. */
export type StateAnswer =
  | { readonly type: 'approve' }
  | {
      readonly type: 'reject';
      /** The reason, for the model and for the ledger. */
      readonly message?: string;
    };

export interface OpenAIAgentsOptions extends ToolOptions<StateAnswer, RunContext<any>> {
  /** The id of a run. Default: `runId` of its context, or else the `groupId` of its trace. */
  readonly run?: (context: RunContext<any>) => string | undefined;
}

export const OPTIONS: ArgumentSchema = arg.options<OpenAIAgentsOptions>({
  ...TOOL_OPTIONS,
  run: arg.optional(arg.code),
});
