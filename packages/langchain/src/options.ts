import { TOOL_OPTIONS, type ToolOptions } from '@assize/gate/internal/tool-calls';
import { type ArgumentSchema, arg } from 'assize/internal/base';
import type { Configurable } from './place.ts';

/** The run that an answer came with, where a program puts the person that it has authenticated. */
export interface AnswerPlace {
  readonly configurable: Configurable;
  readonly context: unknown;
}

export interface LangChainOptions extends ToolOptions<unknown, AnswerPlace> {
  /** The form of a pause. Default: `hitl`. */
  readonly interrupts?: 'hitl' | 'ag-ui';
  /** The thread of a run. Default: `configurable.thread_id`. */
  readonly thread?: (configurable: Configurable) => string | undefined;
}

export const LANGCHAIN_OPTIONS: ArgumentSchema = arg.options<LangChainOptions>({
  ...TOOL_OPTIONS,
  interrupts: arg.optional(arg.oneOf(['hitl', 'ag-ui'])),
  thread: arg.optional(arg.code),
});
