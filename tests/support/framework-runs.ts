/** Runs of frameworks whose models set two items, one in each message. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { tool as langchainTool } from '@langchain/core/tools';
import * as openai from '@openai/agents';
import {
  assistantMessage,
  functionCall,
  modelResponder,
  ScriptedModel,
} from '@openai/agents/testing';
import { tool as aiTool, generateText, stepCountIs } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { createAgent } from 'langchain';
import { z } from 'zod';
import type { Gate, Tools } from '#calls';
import * as ai from '#integrations/ai';
import * as langchain from '#integrations/langchain';
import * as mastra from '#integrations/mastra';
import * as agents from '#integrations/openai-agents';

export type SetItem = (args: { readonly item: string; readonly to: string }) => Promise<string>;

export interface Run {
  readonly gate: Gate;
  /** The tool of the test. */
  readonly set: SetItem;
  readonly run: string;
  readonly signal: AbortSignal;
  /** Gives the last words of the model, or throws. */
  readonly last: () => string;
}

export interface Framework {
  /** The place of a tool's result in what the framework records. */
  readonly result: string;
  /** Runs an agent whose model sets two items, one in each message. */
  readonly work: (run: Run) => Promise<unknown>;
  readonly tools: (set: SetItem) => Tools;
}

const CALLS = [
  { id: 'c1', args: { item: '/pens', to: '5' } },
  { id: 'c2', args: { item: '/ink', to: '7' } },
] as const;
const SCHEMA = z.object({ item: z.string(), to: z.string() });
const about = { name: 'set', description: 'sets an item' };

const langchainSet = (set: SetItem) => langchainTool(set, { ...about, schema: SCHEMA } as never);
const aiSet = (set: SetItem) => ({ set: aiTool({ inputSchema: SCHEMA, execute: set }) });
const openaiSet = (set: SetItem) =>
  openai.tool({ ...about, parameters: SCHEMA, execute: set as never }) as any;

export const FRAMEWORKS: Readonly<Record<string, Framework>> = {
  LangChain: {
    result: '/result/message/content',
    tools: (set) => langchain.undoTools([langchainSet(set) as never]),
    work: ({ gate, set, run, signal, last }) => {
      const model = fakeModel();
      for (const { id, args } of CALLS)
        model.respond(new AIMessage({ content: '', tool_calls: [{ id, name: 'set', args }] }));
      model.respond((() => new AIMessage(last())) as never);
      const middleware = [langchain.assizeMiddleware(gate)];
      const agent = createAgent({ model, tools: [langchainSet(set) as never], middleware });
      const config = { configurable: { thread_id: run }, signal };
      return agent.invoke({ messages: [new HumanMessage('go')] }, config as never);
    },
  },
  'the AI SDK': {
    result: '/result',
    tools: (set) => ai.undoTools(aiSet(set)),
    work: ({ gate, set, run, signal, last }) => {
      const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } } as never;
      const rest = [...CALLS];
      const model = new MockLanguageModelV4({
        doGenerate: async () => {
          const call = rest.shift();
          const toolCall = call && {
            ...{ type: 'tool-call' as const, toolName: 'set', toolCallId: call.id },
            input: JSON.stringify(call.args),
          };
          const text = toolCall ? '' : last();
          return {
            content: [toolCall ?? { type: 'text' as const, text }],
            finishReason: { unified: toolCall ? 'tool-calls' : 'stop', raw: undefined },
            ...{ usage, warnings: [] },
          };
        },
      });
      const tools = ai.assizeTools(gate, aiSet(set), { run });
      const more = { stopWhen: stepCountIs(5), maxRetries: 0, abortSignal: signal };
      return generateText({ model, prompt: 'go', tools, ...more } as never);
    },
  },
  'the OpenAI Agents SDK': {
    result: '/result/output',
    tools: (set) => agents.undoTools([openaiSet(set)]),
    work: ({ gate, set, run, signal, last }) => {
      const model = new ScriptedModel([
        ...CALLS.map(({ id, args }) =>
          modelResponder(() => [functionCall('set', args, { callId: id })]),
        ),
        modelResponder(() => [assistantMessage(last())]),
      ]);
      const tools = agents.gatedTools(gate, [openaiSet(set)]);
      const agent = new openai.Agent({ name: 'clerk', model, tools: [...tools] });
      const runner = new openai.Runner({ tracingDisabled: true });
      return runner.run(agent, 'go', { context: { runId: run }, signal } as never);
    },
  },
};

const peers = join(import.meta.dirname, '../../peers');
export const hasMastra = existsSync(join(peers, 'node_modules/@mastra/core'));

/** A module of Mastra. Only the peers have it. */
async function ofMastra(name: string): Promise<any> {
  const file = createRequire(join(peers, 'package.json')).resolve(`@mastra/core/${name}`);
  return import(pathToFileURL(file).href);
}

export async function withMastra(): Promise<Framework> {
  const { Agent } = await ofMastra('agent');
  const { createTool } = await ofMastra('tools');
  const { MastraLanguageModelV2Mock } = await ofMastra('test-utils/llm-mock');
  const toolOf = (set: SetItem) =>
    createTool({ id: 'set', description: 'sets an item', inputSchema: SCHEMA, execute: set });
  return {
    result: '/result/value',
    tools: (set) => mastra.undoTools([toolOf(set)]),
    work: async ({ gate, set, run, signal, last }) => {
      const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
      const rest = [...CALLS];
      const doStream = async () => {
        const call = rest.shift();
        const text = call ? '' : last();
        const parts = call
          ? [
              {
                type: 'tool-call',
                toolCallId: call.id,
                toolName: 'set',
                input: JSON.stringify(call.args),
              },
            ]
          : [
              { type: 'text-start', id: 't' },
              { type: 'text-delta', id: 't', delta: text },
            ];
        const finishReason = call ? 'tool-calls' : 'stop';
        const start = { type: 'stream-start', warnings: [] };
        return {
          stream: ReadableStream.from([start, ...parts, { type: 'finish', finishReason, usage }]),
        };
      };
      const agent = new Agent({
        ...{ id: 'clerk', name: 'clerk', instructions: 'Set.', maxRetries: 0 },
        model: new MastraLanguageModelV2Mock({ doStream }),
        tools: mastra.gatedTools(gate, { set: toolOf(set) }),
      });
      const stream = await agent.stream('go', { runId: run, abortSignal: signal });
      for await (const { type, payload } of stream.fullStream) {
        if (type === 'error') throw payload.error;
        if (type === 'abort') throw new DOMException('The run was aborted.', 'AbortError');
      }
    },
  };
}
