import { ToolMessage } from '@langchain/core/messages';
import type { AgentMiddleware, ToolCallRequest } from 'langchain';
import { checkArgument, type Json } from '#base';
import { GATE, type Gate } from '#calls';
import { gatedCall } from './gated-call.ts';
import { isAloneIn } from './is-alone.ts';
import { LANGCHAIN_OPTIONS, type LangChainOptions } from './options.ts';
import type { ToolResult } from './results.ts';

/** The brand of a middleware, as `createMiddleware` sets it. */
const BRAND = Symbol.for('AgentMiddleware');

/**
 * A middleware of `createAgent` that lets every tool call through the gate. A call is judged,
 * approved by a person where the rules ask, made once, and recorded.
 *
 * @throws ArgumentError `bad_argument`
 */
export function assizeMiddleware(gate: Gate, options: LangChainOptions = {}): AgentMiddleware {
  checkArgument(GATE, gate, 'gate');
  checkArgument(LANGCHAIN_OPTIONS, options, 'options');
  const wrapToolCall = async (
    request: ToolCallRequest,
    handler: (request: ToolCallRequest) => ToolResult | Promise<ToolResult>,
  ): Promise<ToolResult> => {
    const { toolCall, runtime, state } = request;
    const { id, name: tool, args } = toolCall;
    const call = {
      ...{ id: id as string, tool, args: args as Readonly<Record<string, Json>> },
      configurable: runtime.configurable ?? {},
      context: runtime.context,
      isAlone: isAloneIn(state.messages, id),
      signal: runtime.signal,
      failed: (error: unknown) => failureOf(error, id as string, tool),
    };
    const make = async (given: Readonly<Record<string, Json>>): Promise<ToolResult> =>
      handler({ ...request, toolCall: { ...toolCall, args: given } });
    return gatedCall(gate, call, make, options);
  };
  return { [BRAND]: true, name: 'Assize', wrapToolCall } as unknown as AgentMiddleware;
}

/** The agent's own word for a failed tool. Its correction of bad arguments stays with the agent. */
function failureOf(error: unknown, tool_call_id: string, name: string): ToolResult {
  if ((error as { readonly name?: unknown } | null)?.name === 'ToolInvocationError') throw error;
  return new ToolMessage({ content: `${error}\n Please fix your mistakes.`, tool_call_id, name, status: 'error' });
}
