import { CallError, GATE, type Gate } from '@assize/gate/internal/calls';
import type { Tool, ToolExecutionOptions, ToolSet } from 'ai';
import { arg, checkArgument } from 'assize/internal/base';
import { GatedTool } from './gated-tool.ts';
import { AI_SDK_OPTIONS, type AiSdkOptions, type CallPlace } from './options.ts';
import { streamed } from './streamed.ts';

const GATED = new WeakMap<object, GatedTool>();

/**
 * The same tools, with every call going through the gate. A call is judged by the rules,
 * approved by a person where they ask, made once for its run and id, and recorded. Names, schemas
 * and types stay as they are. Tools without `execute` are made elsewhere, and stay too.
 *
 * @throws CallError `bad_argument`; ArgumentError `bad_argument`
 */
export function assizeTools<T extends ToolSet>(gate: Gate, tools: T, options: AiSdkOptions): T {
  checkArgument(GATE, gate, 'gate');
  checkArgument(arg.object, tools, 'tools');
  checkArgument(AI_SDK_OPTIONS, options, 'options');
  const all = Object.entries(tools as Record<string, Tool>);
  return Object.fromEntries(
    all.map(([name, tool]) => [name, gatedTool(gate, name, tool, options)]),
  ) as T;
}

/** The gate of a tool. Undefined for a tool that no gate has. */
export function gateOf(tool: unknown): GatedTool | undefined {
  return typeof tool === 'object' && tool !== null ? GATED.get(tool) : undefined;
}

function gatedTool(gate: Gate, name: string, tool: Tool, options: AiSdkOptions): Tool {
  checkArgument(arg.object, tool, `tools.${name}`);
  if (typeof tool.execute !== 'function') return tool;
  if (tool.needsApproval !== undefined && tool.needsApproval !== false)
    throw new CallError(
      'bad_argument',
      `${name} has needsApproval. Write a rule that asks, and remove it.`,
      {
        evidence: { tool: name },
      },
    );
  const gated = new GatedTool(gate, name, tool, options);
  const needsApproval = (input: unknown, place: CallPlace): Promise<boolean> =>
    gated.waits(input, place);
  const execute = (input: unknown, given: ToolExecutionOptions<unknown>): unknown =>
    isStreaming(name, tool, options)
      ? streamed((take) => gated.execute(input, given, take))
      : gated.execute(input, given);
  const made = { ...tool, needsApproval, execute } as unknown as Tool;
  GATED.set(made, gated);
  return made;
}

/** The SDK wants to know before the call whether its results are a stream. */
function isStreaming(name: string, { execute }: Tool, { streaming = [] }: AiSdkOptions): boolean {
  return (
    streaming.includes(name) ||
    Object.prototype.toString.call(execute) === '[object AsyncGeneratorFunction]'
  );
}
