import { TOOL_OPTIONS, type ToolOptions } from '@assize/gate/internal/tool-calls';
import { type ArgumentSchema, arg } from 'assize/internal/base';
import type { ToolContext } from './tool.ts';

/** The place of a call: the same for every repetition of it, and for no other call. */
export interface CallIdentity {
  /** The run. It is the session of the call in the ledger. */
  readonly run: string;
  /** The id of the call in its run. */
  readonly id: string;
}

export interface MastraOptions extends ToolOptions<unknown, ToolContext> {
  /**
   * Names a call. Default for an agent: its run and the model's id of the call. Default for a step
   * of a workflow: its run, the tool and the input.
   */
  readonly identity?: (input: unknown, context: ToolContext) => CallIdentity | undefined;
}

export const MASTRA_OPTIONS: ArgumentSchema = arg.options<MastraOptions>({
  ...TOOL_OPTIONS,
  identity: arg.optional(arg.code),
});
