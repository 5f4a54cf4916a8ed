import type { StructuredToolInterface } from '@langchain/core/tools';
import { arg, checkArgument, type Json } from '#base';
import { GATE, type Gate } from '#calls';
import { LangChainError } from './errors.ts';
import { gatedCall } from './gated-call.ts';
import { isAloneIn } from './is-alone.ts';
import { LANGCHAIN_OPTIONS, type LangChainOptions } from './options.ts';
import type { Configurable } from './place.ts';
import type { ToolResult } from './results.ts';

/**
 * The same tools, of which every tool call goes through the gate. They are for a `ToolNode`, or for
 * a node that invokes tools with the calls of the model. Names, schemas and types stay as they are.
 *
 * @throws ArgumentError `bad_argument`
 */
export function gatedTools<const T extends readonly StructuredToolInterface[]>(
  gate: Gate,
  tools: T,
  options: LangChainOptions = {},
): T {
  checkArgument(GATE, gate, 'gate');
  checkArgument(arg.list(arg.object), tools, 'tools');
  checkArgument(LANGCHAIN_OPTIONS, options, 'options');
  return tools.map((tool) => gatedTool(gate, tool, options)) as unknown as T;
}

/** A call of the model, as a node invokes a tool with it. */
interface ToolCall {
  readonly type: 'tool_call';
  readonly id: string;
  readonly args: Readonly<Record<string, Json>>;
}

/** The configuration with which a node invokes a tool. */
interface ToolConfig {
  readonly configurable?: Configurable;
  readonly context?: unknown;
  readonly signal?: AbortSignal;
  readonly state?: unknown;
}

function gatedTool(gate: Gate, tool: StructuredToolInterface, options: LangChainOptions): StructuredToolInterface {
  const { name } = tool;
  const invoke = async (input: unknown, config: ToolConfig = {}): Promise<ToolResult> => {
    if (!isToolCall(input))
      throw new LangChainError('no_call_id', `${name} was invoked without an id. Invoke it with a tool call.`, {
        evidence: { tool: name },
      });
    const call = {
      ...{ id: input.id, tool: name, args: input.args },
      configurable: config.configurable ?? {},
      context: config.context,
      isAlone: isAloneIn(messagesOf(config.state), input.id),
      signal: config.signal,
      // A node tells the model of an error in its own words.
      failed: (error: unknown) => {
        throw error;
      },
    };
    const make = (args: Readonly<Record<string, Json>>): Promise<ToolResult> =>
      tool.invoke({ ...input, args }, config as never) as Promise<ToolResult>;
    return gatedCall(gate, call, make, options);
  };
  // Also the older way to call a tool.
  return Object.create(tool, { invoke: { value: invoke }, call: { value: invoke } }) as StructuredToolInterface;
}

function isToolCall(input: unknown): input is ToolCall {
  const { type, id } = (input ?? {}) as { readonly type?: unknown; readonly id?: unknown };
  return type === 'tool_call' && typeof id === 'string';
}

function messagesOf(state: unknown): unknown {
  return Array.isArray(state) ? state : (state as { readonly messages?: unknown } | null | undefined)?.messages;
}
