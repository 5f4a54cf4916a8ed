/** Runs of agents and of graphs of LangChain whose tool pays, through a gate over a store of its own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AIMessage, type BaseMessage, HumanMessage, type ToolMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { tool } from '@langchain/core/tools';
import { Command, MemorySaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { createAgent } from 'langchain';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { type Gate, openGate } from '#calls';
import {
  type AssizeInterrupt,
  answerTo,
  assizeMiddleware,
  type CallDecision,
  gatedTools,
  type LangChainOptions,
} from '#integrations/langchain';

const RULES = `
id: shop
tools:
  shop/look: { class: read }
  shop/pay: { class: irreversible }
rules:
  - { id: look, allow: shop/look }
  - { id: small, allow: shop/pay, where: [{ path: /cents, max: 100 }] }
  - { id: large, ask: shop/pay, where: [{ path: /cents, min: 101 }] }
  - { id: never, deny: shop/pay, where: [{ path: /to, is: mallory }] }
`;

export type Paid = { readonly to: string; readonly cents: number };
export type Call = { readonly name: string; readonly args: Record<string, unknown>; readonly id: string };
export type Pause = { readonly id: string; readonly value: AssizeInterrupt };
type Place = { readonly thread_id: string; readonly checkpoint_id?: string };

export const pay = (id: string, to: string, cents: number): Call => ({ name: 'pay', args: { to, cents }, id });

/** A run of an agent or of a graph, over one thread. */
export interface Run {
  readonly gate: Gate;
  /** The payments that were made. */
  readonly made: Paid[];
  start(calls: readonly Call[], place?: Place): Promise<Ended>;
  resume(answer: unknown, place?: Place): Promise<Ended>;
  /** The same with another process's gate. */
  reopen(): Promise<void>;
  history(): Promise<readonly { readonly config: unknown; readonly next: readonly string[] }[]>;
}

export interface Ended {
  readonly pauses: readonly Pause[];
  readonly told: readonly Pick<ToolMessage, 'content' | 'status' | 'tool_call_id'>[];
}

interface Graph {
  invoke(input: unknown, config: unknown): Promise<{ messages: BaseMessage[]; __interrupt__?: readonly Pause[] }>;
  getStateHistory(config: unknown): AsyncIterable<{ config: unknown; next: string[] }>;
}

export type Make = (parts: Parts) => Graph;

interface Parts {
  readonly gate: Gate;
  readonly options: LangChainOptions;
  readonly calls: readonly Call[];
  readonly checkpointer: MemorySaver;
  readonly tools: readonly ReturnType<typeof payTool>[];
}

export const agent: Make = ({ gate, options, calls, checkpointer, tools }) => {
  const model = fakeModel()
    .respondWithTools([...calls])
    .respond(new AIMessage('bye'));
  const made = createAgent({ model, tools: [...tools], middleware: [assizeMiddleware(gate, options)], checkpointer });
  return {
    invoke: (input, config) => made.invoke(input as never, config as never),
    getStateHistory: (config) => made.graph.getStateHistory(config as never),
  } as Graph;
};

export const bareGraph: Make = ({ gate, options, calls, checkpointer, tools }) => {
  const node = new ToolNode([...gatedTools(gate, tools, options)]);
  return new StateGraph(MessagesAnnotation)
    .addNode('model', () => ({ messages: [new AIMessage({ content: '', tool_calls: [...calls] })] }))
    .addNode('tools', node)
    .addEdge('__start__', 'model')
    .addEdge('model', 'tools')
    .compile({ checkpointer }) as unknown as Graph;
};

function payTool(made: Paid[], pays: (paid: Paid) => unknown) {
  return tool(
    async (paid: Paid) => {
      made.push(paid);
      return pays(paid) as string;
    },
    { name: 'pay', description: 'Pays.', schema: z.object({ to: z.string(), cents: z.number() }) },
  );
}

export interface RunOptions extends LangChainOptions {
  readonly pays?: (paid: Paid) => unknown;
}

export async function runOf(
  make: Make,
  { pays = ({ to }) => `paid ${to}`, ...options }: RunOptions = {},
): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-langchain-'));
  const rules = join(folder, 'assize.yaml');
  writeFileSync(rules, RULES);
  const open = () =>
    openGate({
      ...{ store: `sqlite:${join(folder, 'calls.db')}`, rules, agent: 'ada', server: 'shop', inFlightMs: 50, env: {} },
    });
  const gates = [await open()];
  onTestFinished(async () => {
    for (const gate of gates) await gate.port.close();
    rmSync(folder, { recursive: true });
  });
  const made: Paid[] = [];
  const checkpointer = new MemorySaver();
  let asked: readonly Call[] = [];
  const graph = (): Graph =>
    make({ gate: gates.at(-1)!, options, calls: asked, checkpointer, tools: [payTool(made, pays)] });
  let current: Graph | undefined;
  const invoke = async (input: unknown, place: Place = { thread_id: 't1' }): Promise<Ended> => {
    current ??= graph();
    const { messages, __interrupt__ = [] } = await current.invoke(input, { configurable: place });
    return { pauses: __interrupt__, told: messages.filter((message) => message.type === 'tool') as ToolMessage[] };
  };
  return {
    get gate() {
      return gates.at(-1)!;
    },
    made,
    start: (calls, place) => {
      asked = calls;
      current = undefined;
      return invoke({ messages: [new HumanMessage('go')] }, place);
    },
    resume: (answer, place) => invoke(answer === undefined ? null : new Command({ resume: answer }), place),
    reopen: async () => {
      gates.push(await open());
      current = undefined;
    },
    history: async () => {
      const found = [];
      for await (const state of (current ?? graph()).getStateHistory({ configurable: { thread_id: 't1' } }))
        found.push(state);
      return found;
    },
  };
}

/** The answer to one pause, by the id of its interrupt. */
export function answered({ id, value }: Pause, decision: CallDecision): object {
  return { [id]: answerTo(value, decision) };
}

export async function decide({ gate }: Run, { value }: Pause, decision: 'approve' | 'reject'): Promise<void> {
  const { approval, digest } = value.assize;
  await gate.port.decide(approval as never, { decision, by: 'manager:grace', method: 'console', digest });
}

export const named: LangChainOptions = { approver: () => 'manager:grace' };
