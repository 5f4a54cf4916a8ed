/**
 * A tool call through the gate beside the bare call, in each framework: a call that changes
 * something, judged, started, made and recorded on a SQLite store with durable commits. A framework
 * does the same work in both, from the call of the model to the result of the tool.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AIMessage } from '@langchain/core/messages';
import { tool as langChainTool } from '@langchain/core/tools';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { Agent, type Model, tool as openAITool, Runner, Usage } from '@openai/agents';
import { functionCall } from '@openai/agents/testing';
import { tool as aiTool, generateText, type ToolSet } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';
import type { Gate } from '#calls';
import { assizeApproval, assizeTools } from '#integrations/ai';
import { gatedTools as langChainTools } from '#integrations/langchain';
import { gatedTools as openAITools } from '#integrations/openai-agents';
import {
  AT_ONCE,
  type Call,
  inserter,
  openBenchGate,
  timesOf,
  timeTogether,
} from './call-times.ts';
import { type BenchResult, formatTable, median } from './measure.ts';

const ROUNDS = 7;
const CALLS = 160;
/** The calls of each framework before any is measured. */
const WARM = 1_000;

/** The payments that the tools have made. */
let paid = 0;

const payment = z.object({ to: z.string(), cents: z.number() });
const pay = async (_payment: z.infer<typeof payment>): Promise<string> => `receipt ${++paid}`;
const ABOUT = { name: 'pay', description: 'Pays a bill.' };
const args = (n: number): z.infer<typeof payment> => ({ to: 'bob', cents: n % 1_000 });

/** An id that no other call has. */
let made = 0;
const nextId = (): string => `c${made++}`;

/** One framework: the same call without the gate and through it. */
interface Framework {
  readonly name: string;
  readonly bare: Call;
  readonly gated: Call;
}

export async function frameworksBench(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  try {
    const gate = await openBenchGate(folder);
    const insert = inserter(join(folder, 'bare.db'));
    await timesOf(insert, WARM);
    const results: BenchResult[] = [];
    for (const framework of [langGraph(gate), aiSdk(gate), openAIAgents(gate)])
      results.push(...(await measured(framework)));
    results.push({
      name: 'one durable insert in SQLite, p50',
      value: median(await timesOf(insert, CALLS)),
      unit: 'ms',
    });
    await gate.close();
    return results;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measured({ name, bare, gated }: Framework): Promise<BenchResult[]> {
  const one: Record<'bare' | 'gated', number[]> = { bare: [], gated: [] };
  const many: Record<'bare' | 'gated', number[]> = { bare: [], gated: [] };
  const calls = { bare: counted(bare), gated: counted(gated) };
  for (const call of [calls.bare, calls.gated]) await timesOf(call, WARM);
  for (let round = 0; round < ROUNDS; round++)
    for (const kind of ['bare', 'gated'] as const) {
      one[kind].push(median(await timesOf(calls[kind], CALLS)));
      many[kind].push(await timeTogether(calls[kind], CALLS));
    }
  return [
    result(`a call in ${name} through the gate, p50`, one),
    result(`a call in ${name} of ${AT_ONCE} concurrent ones, time a call`, many),
  ];
}

/** A call that fails unless its tool was called. */
function counted(call: Call): Call {
  return async (n) => {
    const before = paid;
    await call(n);
    if (paid === before) throw new Error('The tool was not called.');
  };
}

function result(
  name: string,
  { bare, gated }: Readonly<Record<'bare' | 'gated', readonly number[]>>,
): BenchResult {
  return {
    ...{ name, value: median(gated), unit: 'ms' },
    baseline: { name: 'the bare call', value: median(bare) },
    ratio: median(gated.map((value, round) => value / bare[round]!)),
  };
}

function langGraph(gate: Gate): Framework {
  const tools = [langChainTool(pay, { ...ABOUT, schema: payment })];
  const callOf = (node: ToolNode): Call => {
    return (n) => {
      const message = new AIMessage({
        content: '',
        tool_calls: [{ name: 'pay', args: args(n), id: nextId() }],
      });
      return node.invoke({ messages: [message] }, { configurable: { thread_id: 'langgraph' } });
    };
  };
  return {
    name: 'a ToolNode of LangGraph',
    bare: callOf(new ToolNode(tools)),
    gated: callOf(new ToolNode(langChainTools(gate, tools))),
  };
}

function aiSdk(gate: Gate): Framework {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } } as never;
  const finishReason = { unified: 'tool-calls', raw: undefined } as const;
  const tools = {
    pay: aiTool({ description: ABOUT.description, inputSchema: payment, execute: pay }),
  };
  const callOf = (given: ToolSet, approval: object): Call => {
    return (n) => {
      const call = {
        type: 'tool-call',
        toolCallId: nextId(),
        toolName: 'pay',
        input: JSON.stringify(args(n)),
      } as const;
      const doGenerate = async () => ({ content: [call], finishReason, usage, warnings: [] });
      const model = new MockLanguageModelV4({ doGenerate });
      return generateText({ model, tools: given, ...approval, prompt: 'Pay.', maxRetries: 0 });
    };
  };
  return {
    name: 'generateText of the AI SDK',
    bare: callOf(tools, {}),
    gated: callOf(assizeTools(gate, tools, { run: 'ai-sdk' }), { toolApproval: assizeApproval }),
  };
}

function openAIAgents(gate: Gate): Framework {
  const tools = [openAITool({ ...ABOUT, parameters: payment, execute: pay })];
  const runner = new Runner({ tracingDisabled: true });
  const model: Model = {
    getResponse: async () => ({
      usage: new Usage(),
      output: [functionCall('pay', args(made), { callId: nextId() })],
    }),
    getStreamedResponse: () => {
      throw new Error('The benchmark streams nothing.');
    },
  };
  const callOf = (given: typeof tools): Call => {
    const agent = new Agent({
      name: 'clerk',
      model,
      tools: given,
      toolUseBehavior: 'stop_on_first_tool',
    });
    return () => runner.run(agent, 'Pay.', { context: { runId: 'openai-agents' } });
  };
  return {
    name: 'a run of the OpenAI Agents SDK',
    bare: callOf(tools),
    gated: callOf(openAITools(gate, tools)),
  };
}

if (import.meta.main) console.log(formatTable(await frameworksBench()));
