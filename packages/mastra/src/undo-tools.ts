import type { Tools } from '@assize/gate/internal/calls';
import { undoTools as toolsOf } from '@assize/gate/internal/tool-calls';
import { arg, checkArgument } from 'assize/internal/base';
import { misfitOf } from './results.ts';
import type { MastraTool, ToolContext } from './tool.ts';

/**
 * The tools that take calls of a failed run back, for `gate.inRun` and `gate.takeBack`: tools as
 * they are, not those of `gatedTools`. In `undo` of the rules, `/result/value` is what a tool has
 * returned.
 *
 * @throws ArgumentError `bad_argument`
 */
export function undoTools(tools: readonly MastraTool[]): Tools {
  checkArgument(arg.list(arg.object), tools, 'tools');
  return toolsOf(
    tools.map((tool) => [tool.id, tool] as const),
    async (tool, { args }) => {
      const context: ToolContext = {};
      const misfit = misfitOf(await tool.execute?.({ ...args } as never, context as never));
      if (misfit !== undefined) throw new Error(misfit);
    },
  );
}
