/** Runs of agents and graphs of LangChain whose tool pays, through a gate over its own store. */
import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  type ToolMessage,
} from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { tool } from '@langchain/core/tools';
import { Command, MemorySaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { createAgent } from 'langchain';
import { z } from 'zod';
import type { Gate } from '#calls';
import {
  type AssizeInterrupt,
  assizeAnswers,
  assizeMiddleware,
  gatedToolNode,
  gatedTools,
  type LangChainOptions,
  type ToolConfig,
} from '#integrations/langchain';
import { observationsOf } from '#ledger';
import { openStore } from '#stores';
import { openShop } from './gated-shop.ts';
import { payloads } from './ledger/desk.ts';

export type Paid = { readonly to: string; readonly cents: number };
export type Call = {
  readonly name: string;
  readonly args: Record<string, unknown>;
  readonly id: string;
};
export type Pause = { readonly id: string; readonly value: AssizeInterrupt };
export type Place = { readonly thread_id: string; readonly checkpoint_id?: string };

export const pay = (id: string, to: string, cents: number): Call => ({
  name: 'pay',
  args: { to, cents },
  id,
});

export interface Ended {
  readonly pauses: readonly Pause[];
  readonly told: readonly Pick<ToolMessage, 'content' | 'status' | 'tool_call_id'>[];
}

export interface Graph {
  invoke(
    input: unknown,
    config: unknown,
  ): Promise<{ messages: BaseMessage[]; __interrupt__?: readonly Pause[] }>;
  getStateHistory(
    config: unknown,
  ): AsyncIterable<{ config: { configurable: Place }; next: string[] }>;
  stream(input: unknown, config: unknown): Promise<AsyncIterable<unknown>>;
}

export type Make = (parts: Parts) => Graph;

interface Parts {
  readonly gate: Gate;
  readonly options: LangChainOptions;
  readonly calls: readonly Call[];
  readonly checkpointer: MemorySaver;
  readonly tools: readonly ReturnType<typeof payTool>[];
  /** Takes the messages of each question to the model. */
  readonly asked: (messages: readonly BaseMessage[]) => void;
}

export const agent: Make = ({ gate, options, calls, checkpointer, tools, asked }) => {
  const model = fakeModel();
  // A run that is resumed or forked asks the model again, with the messages until there.
  for (let i = 0; i < 20; i++)
    model.respond((messages) => {
      asked(messages);
      const isDone = messages.at(-1)?.type === 'tool';
      return isDone ? new AIMessage('bye') : new AIMessage({ content: '', tool_calls: [...calls] });
    });
  const made = createAgent({
    model,
    tools: [...tools],
    middleware: [assizeMiddleware(gate, options)],
    checkpointer,
  });
  return made as unknown as Graph;
};

export const bareGraph: Make = ({ gate, options, calls, checkpointer, tools, asked }) => {
  return new StateGraph(MessagesAnnotation)
    .addNode('model', async (state, config) => {
      asked(
        (
          await assizeAnswers(
            gatedTools(gate, tools, options),
            state.messages,
            config as ToolConfig,
          )
        ).messages,
      );
      return { messages: [new AIMessage({ content: '', tool_calls: [...calls] })] };
    })
    .addNode('tools', gatedToolNode(gate, tools, options))
    .addEdge('__start__', 'model')
    .addEdge('model', 'tools')
    .compile({ checkpointer }) as unknown as Graph;
};

function payTool(made: Paid[], pays: (paid: Paid, config: unknown) => unknown) {
  return tool(
    async (paid: Paid, config) => {
      made.push(paid);
      return (await pays(paid, config)) as string;
    },
    { name: 'pay', description: 'Pays.', schema: z.object({ to: z.string(), cents: z.number() }) },
  );
}

export interface RunOptions extends LangChainOptions {
  readonly pays?: (paid: Paid, config: unknown) => unknown;
  readonly rules?: string;
  /** How long a question waits for a person. */
  readonly timeoutMs?: number;
}

export async function runOf(
  make: Make,
  { pays = ({ to }) => `paid ${to}`, rules, timeoutMs, ...options }: RunOptions = {},
): Promise<Run> {
  const { store, gate, open } = await openShop({ rules, timeoutMs });
  return new Run({
    store,
    make,
    options,
    open,
    made: [],
    pays,
    gate,
    checkpointer: new MemorySaver(),
  });
}

interface RunParts {
  /** The URL of the store. */
  readonly store: string;
  readonly make: Make;
  readonly options: LangChainOptions;
  readonly open: () => Promise<Gate>;
  readonly made: Paid[];
  readonly pays: (paid: Paid, config: unknown) => unknown;
  readonly gate: Gate;
  readonly checkpointer: MemorySaver;
}

/** A run of an agent or of a graph, over one thread. */
export class Run {
  readonly gate: Gate;
  /** The payments that were made, by this run and by its copies. */
  readonly made: Paid[];
  readonly checkpointer: MemorySaver;
  /** The messages of each question to the model. */
  readonly asked: (readonly BaseMessage[])[] = [];
  readonly #parts: RunParts;
  #calls: readonly Call[];
  #graph: Graph | undefined;

  constructor(parts: RunParts, calls: readonly Call[] = []) {
    this.#parts = parts;
    this.#calls = calls;
    this.gate = parts.gate;
    this.made = parts.made;
    this.checkpointer = parts.checkpointer;
  }

  get graph(): Graph {
    const { make, options, made, pays, gate, checkpointer } = this.#parts;
    const asked = (messages: readonly BaseMessage[]): unknown => this.asked.push(messages);
    this.#graph ??= make({
      gate,
      options,
      calls: this.#calls,
      checkpointer,
      tools: [payTool(made, pays)],
      asked,
    });
    return this.#graph;
  }

  start(calls: readonly Call[], place?: Place, signal?: AbortSignal): Promise<Ended> {
    this.#calls = calls;
    this.#graph = undefined;
    return this.#invoke({ messages: [new HumanMessage('go')] }, place, signal);
  }

  /** The events that the tools write. */
  stream(calls: readonly Call[]): Promise<AsyncIterable<unknown>> {
    this.#calls = calls;
    const config = { configurable: { thread_id: 't1' }, streamMode: 'custom' };
    return this.graph.stream({ messages: [new HumanMessage('go')] }, config);
  }

  resume(answer: unknown, place?: Place): Promise<Ended> {
    return this.#invoke(answer === undefined ? null : new Command({ resume: answer }), place);
  }

  /** The same run in another process: with the checkpoints as they are, and another gate. */
  async copy(): Promise<Run> {
    const checkpointer = new MemorySaver();
    Object.assign(checkpointer.storage, structuredClone(this.checkpointer.storage));
    Object.assign(checkpointer.writes, structuredClone(this.checkpointer.writes));
    return new Run({ ...this.#parts, gate: await this.#parts.open(), checkpointer }, this.#calls);
  }

  /** Changes a text in every stored checkpoint. */
  tamper(from: string, to: string): void {
    const { storage, writes } = this.checkpointer;
    changeBytes(storage, from, to);
    changeBytes(writes, from, to);
  }

  /** The last checkpoint at which a node was about to run. */
  async before(node: string): Promise<Place> {
    for await (const { config, next } of stateHistory(this.graph, {
      configurable: { thread_id: 't1' },
    }))
      if (next.includes(node)) return config.configurable;
    throw new Error(`no checkpoint is before ${node}`);
  }

  /** The observations of every entry in the store. */
  async observations(): Promise<readonly unknown[]> {
    const reader = await openStore(this.#parts.store);
    try {
      const found = await payloads(reader, 'calls');
      return found.flatMap((payload) => observationsOf(payload).map(({ value }) => value));
    } finally {
      await reader.close();
    }
  }

  async #invoke(
    input: unknown,
    place: Place = { thread_id: 't1' },
    signal?: AbortSignal,
  ): Promise<Ended> {
    const { messages, __interrupt__ = [] } = await this.graph.invoke(input, {
      configurable: place,
      ...(signal !== undefined && { signal }),
    });
    return {
      pauses: __interrupt__,
      told: messages.filter((message) => message.type === 'tool') as ToolMessage[],
    };
  }
}

/** An agent has its graph in a member. */
function stateHistory(
  graph: Graph | { graph: Graph },
  config: unknown,
): ReturnType<Graph['getStateHistory']> {
  return ('graph' in graph ? graph.graph : graph).getStateHistory(config);
}

function changeBytes(stored: object, from: string, to: string): void {
  for (const [key, value] of Object.entries(stored)) {
    if (value instanceof Uint8Array) {
      const text = new TextDecoder().decode(value).replaceAll(from, to);
      (stored as Record<string, unknown>)[key] = new TextEncoder().encode(text);
    } else if (typeof value === 'object' && value !== null) changeBytes(value, from, to);
  }
}

export async function decide(
  { gate }: Run,
  { value }: Pause,
  decision: 'approve' | 'reject',
): Promise<void> {
  const { approval, digest } = value.assize;
  await gate.port.decide(approval as never, {
    decision,
    by: 'manager:grace',
    method: 'console',
    digest: digest!,
  });
}

export const named: LangChainOptions = { approver: () => 'manager:grace' };
