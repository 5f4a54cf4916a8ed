import type { Tools } from '@assize/gate/internal/calls';
import { undoTools as toolsOf } from '@assize/gate/internal/tool-calls';
import { type FunctionTool, RunContext } from '@openai/agents';
import { arg, checkArgument } from 'assize/internal/base';
import { isFailureText, ToldFailure } from './told-failure.ts';

/**
 * The tools that take calls of a failed run back, for `gate.inRun` and `gate.takeBack`: tools as
 * they are, not those of `gatedTools`. In `undo` of the rules, `/result/output` is what a tool has
 * returned.
 *
 * @throws ArgumentError `bad_argument`
 */
export function undoTools(tools: readonly FunctionTool<any, any, any>[]): Tools {
  checkArgument(arg.list(arg.object), tools, 'tools');
  return toolsOf(
    tools.map((tool) => [tool.name, tool] as const),
    async (tool, { args }) => {
      const output: unknown = await tool.invoke(new RunContext(), JSON.stringify(args));
      if (isFailureText(output)) throw new ToldFailure(output);
    },
  );
}
