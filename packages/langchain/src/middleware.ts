import { GATE, type Gate } from '@assize/gate/internal/calls';
import type { AIMessage, BaseMessage } from '@langchain/core/messages';
import { checkArgument, type Json } from 'assize/internal/base';
import type { AgentMiddleware, ToolCallRequest } from 'langchain';
import { failureOf } from './failure.ts';
import { type GraphCall, gatedCall, type PastResult, pastCall } from './gated-call.ts';
import { isAloneIn } from './is-alone.ts';
import { LANGCHAIN_OPTIONS, type LangChainOptions } from './options.ts';
import { type ModelCall, withPastResults } from './past-results.ts';
import type { ToolResult } from './results.ts';

/** The brand of a middleware, as `createMiddleware` sets it. */
const BRAND = Symbol.for('AgentMiddleware');

/**
 * A middleware of `createAgent` that lets every tool call through the gate. A call is judged,
 * approved by a person where the rules ask, made once, and recorded. Where the user has written on
 * while a call waited, the model gets an interim result, and the real one after the decision.
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
    const { toolCall } = request;
    const { id, name } = toolCall;
    const failed = (error: unknown): ToolResult => {
      // The correction of bad arguments stays with the agent.
      if ((error as { readonly name?: unknown } | null)?.name === 'ToolInvocationError')
        throw error;
      return failureOf(error, { id: id as string, name });
    };
    const call = callOf(toolCall as ModelCall, request, failed);
    const make = async (given: Readonly<Record<string, Json>>): Promise<ToolResult> =>
      handler({ ...request, toolCall: { ...toolCall, args: given } });
    return gatedCall(gate, call, make, options);
  };
  const wrapModelCall = async (
    request: ModelRequest,
    handler: (request: ModelRequest) => Answered,
  ): Answered => {
    const resultOf = async (asked: ModelCall): Promise<PastResult | undefined> => {
      const tool = request.tools.find(({ name }) => name === asked.name);
      if (typeof tool?.invoke !== 'function') return undefined;
      const { invoke } = tool;
      const { runtime, state } = request;
      const make = (args: ModelCall['args']): Promise<ToolResult> =>
        invoke.call(tool, { ...asked, type: 'tool_call', args }, { ...runtime, state });
      const failed = (error: unknown): ToolResult => failureOf(error, asked);
      return pastCall(gate, callOf(asked, request, failed), make, options);
    };
    const { messages } = await withPastResults(request.messages, resultOf);
    return handler({ ...request, messages });
  };
  return {
    [BRAND]: true,
    name: 'Assize',
    wrapToolCall,
    wrapModelCall,
  } as unknown as AgentMiddleware;
}

type Answered = Promise<AIMessage>;

/** The part of a question to the model that the middleware reads. */
interface ModelRequest extends Pick<ToolCallRequest, 'runtime' | 'state'> {
  readonly messages: readonly BaseMessage[];
  readonly tools: readonly {
    readonly name?: unknown;
    readonly invoke?: (...given: object[]) => Promise<ToolResult>;
  }[];
}

function callOf(
  { id, name: tool, args }: ModelCall,
  { runtime, state }: Pick<ToolCallRequest, 'runtime' | 'state'>,
  failed: GraphCall['failed'],
): GraphCall {
  const { configurable = {}, context, signal } = runtime;
  return {
    id,
    tool,
    args,
    configurable,
    context,
    isAlone: isAloneIn(state.messages, id),
    signal,
    failed,
  };
}
