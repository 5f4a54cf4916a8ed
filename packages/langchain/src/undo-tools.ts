import type { Tools } from '@assize/gate/internal/calls';
import { undoTools as toolsOf } from '@assize/gate/internal/tool-calls';
import type { StructuredToolInterface } from '@langchain/core/tools';
import { arg, checkArgument } from 'assize/internal/base';

/**
 * The tools that take calls of a failed run back, for `gate.inRun` and `gate.takeBack`: tools as
 * they are, not those of `gatedTools`. In `undo` of the rules, `/result/message/content` is what a
 * tool has returned.
 *
 * @throws ArgumentError `bad_argument`
 */
export function undoTools(tools: readonly StructuredToolInterface[]): Tools {
  checkArgument(arg.list(arg.object), tools, 'tools');
  return toolsOf(
    tools.map((tool) => [tool.name, tool] as const),
    (tool, { key: id, args }) =>
      tool.invoke({ type: 'tool_call', id, name: tool.name, args: { ...args } }),
  );
}
