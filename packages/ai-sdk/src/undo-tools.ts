import type { Tools } from '@assize/gate/internal/calls';
import { undoTools as toolsOf } from '@assize/gate/internal/tool-calls';
import type { Tool, ToolSet } from 'ai';
import { arg, checkArgument } from 'assize/internal/base';

/**
 * The tools that take calls of a failed run back, for `gate.inRun` and `gate.takeBack`: tools as
 * they are, not those of `assizeTools`. In `undo` of the rules, `/result` is what a tool has
 * returned.
 *
 * @throws ArgumentError `bad_argument`
 */
export function undoTools(tools: ToolSet): Tools {
  checkArgument(arg.object, tools, 'tools');
  const executed = Object.entries(tools as Record<string, Tool>).filter(
    ([, { execute }]) => execute !== undefined,
  );
  return toolsOf(executed, (tool, { key: toolCallId, args }) =>
    tool.execute?.({ ...args } as never, { toolCallId, messages: [], context: undefined } as never),
  );
}
