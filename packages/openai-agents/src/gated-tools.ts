import { GATE, type Gate } from '@assize/gate/internal/calls';
import type { FunctionTool } from '@openai/agents';
import { type ArgumentSchema, arg, checkArgument } from 'assize/internal/base';
import { GATED, takeAnswers } from './answers.ts';
import { OPTIONS, type OpenAIAgentsOptions } from './options.ts';
import { ToolCalls } from './tool-calls.ts';

type AnyTool = FunctionTool<any, any, any>;

/**
 * The same tools, with every call going through the gate. A call is judged, approved by a person
 * where the rules ask, made once, and recorded. Names, schemas and types stay as they are.
 *
 * @throws ArgumentError `bad_argument`
 */
export function gatedTools<const T extends readonly FunctionTool<any, any, any>[]>(
  gate: Gate,
  tools: T,
  options: OpenAIAgentsOptions = {},
): { -readonly [At in keyof T]: T[At] } {
  checkArgument(GATE, gate, 'gate');
  checkArgument(TOOLS, tools, 'tools');
  checkArgument(OPTIONS, options, 'options');
  return tools.map((tool) => gatedTool(tool, new ToolCalls(gate, tool, options))) as unknown as {
    -readonly [At in keyof T]: T[At];
  };
}

function gatedTool(tool: AnyTool, calls: ToolCalls): AnyTool {
  const own: Partial<AnyTool> & { readonly [GATED]: ToolCalls } = {
    [GATED]: calls,
    isEnabled: (context, agent) => {
      takeAnswers(context, agent);
      return tool.isEnabled(context, agent);
    },
    needsApproval: (context, input, id) => calls.needsApproval(context, input, id),
    inputGuardrails: [
      { type: 'tool_input', name: 'assize', run: (data) => calls.guard(data) },
      ...(tool.inputGuardrails ?? []),
    ],
    invoke: (context, input, details) => calls.invoke(context, input, details),
  };
  const { prototype, members } = {
    prototype: Object.getPrototypeOf(tool),
    members: Object.getOwnPropertyDescriptors(tool),
  };
  return Object.create(prototype, {
    ...members,
    ...Object.getOwnPropertyDescriptors(own),
  }) as AnyTool;
}

/** A tool that runs an agent is interrupted by the agent's calls, and has no end of its own. */
const TOOL: ArgumentSchema = arg.of(
  'a function tool that is not gated yet, and runs no agent',
  (value) => {
    const { type, name, invoke, on } = (value ?? {}) as { readonly [member: string]: unknown };
    const isFunction =
      type === 'function' && typeof name === 'string' && typeof invoke === 'function';
    return isFunction && on === undefined && !(GATED in (value as object));
  },
);

const TOOLS: ArgumentSchema = arg.list(TOOL);
