import { CallError, GATE, type Gate } from '@assize/gate/internal/calls';
import type { BaseMessage } from '@langchain/core/messages';
import type { StructuredToolInterface } from '@langchain/core/tools';
import { isGraphInterrupt } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { arg, checkArgument } from 'assize/internal/base';
import { failureOf } from './failure.ts';
import { type GraphCall, gatedCall, type MakeCall, pastCall } from './gated-call.ts';
import { isAloneIn } from './is-alone.ts';
import { LANGCHAIN_OPTIONS, type LangChainOptions } from './options.ts';
import { type LedgerAnswers, type ModelCall, withPastResults } from './past-results.ts';
import type { Configurable } from './place.ts';
import type { ToolResult } from './results.ts';

/**
 * The same tools. The gate judges every call of them. They are for `gatedToolNode`, or
 * for a node that invokes tools with the calls of the model. Names, schemas and types stay as they
 * are.
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
  return tools.map((tool) => new GatedTool(gate, tool, options).gated) as unknown as T;
}

/**
 * A `ToolNode` of tools that go through the gate. A refusal or a failure of a tool is for the
 * model, as in every `ToolNode`. An error of the gate itself ends the graph: no model can mend it.
 *
 * @throws ArgumentError `bad_argument`
 */
export function gatedToolNode(
  gate: Gate,
  tools: readonly StructuredToolInterface[],
  options: LangChainOptions = {},
): ToolNode {
  return new GatedToolNode([...gatedTools(gate, tools, options)]);
}

/**
 * The messages with a result beside each call of `gatedTools` that has none, as the user wrote on
 * while it waited. An approved call is made now, once. Use it in the node of the model.
 *
 * @throws ArgumentError `bad_argument`; CallError; the errors of `Gate.run`
 */
export async function assizeAnswers(
  tools: readonly StructuredToolInterface[],
  messages: readonly BaseMessage[],
  config: ToolConfig = {},
): Promise<LedgerAnswers> {
  checkArgument(arg.list(arg.object), tools, 'tools');
  checkArgument(arg.list(arg.object), messages, 'messages');
  checkArgument(arg.object, config, 'config');
  return withPastResults(messages, async (call) =>
    GATED.get(tools.find(({ name }) => name === call.name) ?? {})?.past(call, config),
  );
}

/** A call of the model, as a node invokes a tool with it. */
interface ToolCall extends ModelCall {
  readonly type: 'tool_call';
}

/** The configuration with which a node invokes a tool. */
export interface ToolConfig {
  readonly configurable?: Configurable;
  readonly context?: unknown;
  readonly signal?: AbortSignal;
  readonly state?: unknown;
  /** Takes an error that is not for the model. */
  readonly [FAULT]?: (error: unknown) => void;
}

const FAULT: unique symbol = Symbol('assize.fault');

const GATED = new WeakMap<object, GatedTool>();

class GatedTool {
  readonly gated: StructuredToolInterface;
  readonly #gate: Gate;
  readonly #tool: StructuredToolInterface;
  readonly #options: LangChainOptions;

  constructor(gate: Gate, tool: StructuredToolInterface, options: LangChainOptions) {
    this.#gate = gate;
    this.#tool = tool;
    this.#options = options;
    const invoke = (input: unknown, config?: ToolConfig): Promise<ToolResult> =>
      this.#invoke(input, config);
    // Also the older way to call a tool.
    this.gated = Object.create(tool, { invoke: { value: invoke }, call: { value: invoke } });
    GATED.set(this.gated, this);
  }

  past(call: ModelCall, config: ToolConfig): ReturnType<typeof pastCall> {
    const failed = (error: unknown): ToolResult => failureOf(error, call);
    return pastCall(
      this.#gate,
      this.#callOf(call, config, failed),
      this.#make(call, config),
      this.#options,
    );
  }

  async #invoke(input: unknown, config: ToolConfig = {}): Promise<ToolResult> {
    let failure: { readonly error: unknown } | undefined;
    // A node tells the model of a failed tool in its own words.
    const failed = (error: unknown): never => {
      failure = { error };
      throw error;
    };
    try {
      if (!isToolCall(input)) throw noCallId(this.#tool.name);
      return await gatedCall(
        this.#gate,
        this.#callOf(input, config, failed),
        this.#make(input, config),
        this.#options,
      );
    } catch (error) {
      if (failure === undefined && !isGraphInterrupt(error)) config[FAULT]?.(error);
      throw error;
    }
  }

  #callOf({ id, args }: ModelCall, config: ToolConfig, failed: GraphCall['failed']): GraphCall {
    const { configurable = {}, context, state, signal } = config;
    const isAlone = isAloneIn(messagesOf(state), id);
    return { id, tool: this.#tool.name, args, configurable, context, isAlone, signal, failed };
  }

  #make(call: ModelCall, config: ToolConfig): MakeCall {
    return (args) =>
      this.#tool.invoke(
        { ...call, type: 'tool_call', args },
        config as never,
      ) as Promise<ToolResult>;
  }
}

/** A node tells the model of all errors of its tools. It passes on those of the gate. */
class GatedToolNode extends ToolNode {
  protected override async runTool(
    ...[call, config, state]: Parameters<ToolNode['runTool']>
  ): ReturnType<ToolNode['runTool']> {
    let fault: { readonly error: unknown } | undefined;
    const take = (error: unknown): void => {
      fault = { error };
    };
    const result = await super.runTool(call, { ...config, [FAULT]: take } as typeof config, state);
    if (fault !== undefined) throw fault.error;
    return result;
  }
}

function noCallId(tool: string): CallError {
  return new CallError(
    'no_identity',
    `${tool} was invoked without an id. Invoke it with a tool call.`,
    {
      evidence: { tool },
    },
  );
}

function isToolCall(input: unknown): input is ToolCall {
  const { type, id } = (input ?? {}) as { readonly type?: unknown; readonly id?: unknown };
  return type === 'tool_call' && typeof id === 'string';
}

function messagesOf(state: unknown): unknown {
  return Array.isArray(state)
    ? state
    : (state as { readonly messages?: unknown } | null | undefined)?.messages;
}
