/** Runs of the AI SDK whose tool pays, through a gate over its own store. */
import {
  type AssistantContent,
  generateText,
  type ModelMessage,
  stepCountIs,
  streamText,
  type ToolApprovalRequest,
  type ToolContent,
  type ToolExecutionOptions,
  ToolLoopAgent,
  type ToolResultPart,
  type ToolSet,
  tool,
} from 'ai';
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import { z } from 'zod';
import type { Gate } from '#calls';
import { type AiSdkOptions, assizeApproval, assizeTools } from '#integrations/ai';
import { openShop } from './gated-shop.ts';

export type Paid = { readonly to: string; readonly cents: number };
export type Call = { readonly id: string; readonly name: string; readonly args: object };
type AssistantPart = Exclude<AssistantContent, string>[number];
type ToolPart = ToolContent[number];
type Output = ToolResultPart['output'];

export const pay = (id: string, to: string, cents: number): Call => ({
  id,
  name: 'pay',
  args: { to, cents },
});

/** The parts of a run: of `generateText`, `streamText` or an agent. */
export interface Asking {
  readonly model: MockLanguageModelV4;
  readonly tools: ToolSet;
  readonly messages: ModelMessage[];
  readonly abortSignal?: AbortSignal;
  readonly toolsContext?: Record<string, unknown>;
}

/** The messages that a run adds, and the parts of its tools. */
export interface Said {
  readonly messages: readonly ModelMessage[];
  readonly parts: readonly {
    readonly type: string;
    readonly preliminary?: boolean;
    readonly output?: unknown;
  }[];
}

export type Way = (asking: Asking, approval: typeof assizeApproval | undefined) => Promise<Said>;

export const generated: Way = async (asking, toolApproval) => {
  const result = await generateText({
    ...(asking as object),
    ...(asking as Pick<Asking, 'model' | 'messages'>),
    ...(toolApproval && { toolApproval: toolApproval as never }),
    stopWhen: stepCountIs(5),
    maxRetries: 0,
  });
  return {
    messages: result.responseMessages,
    parts: result.steps.flatMap(({ content }) => content),
  };
};

export const streamedWay: Way = async (asking, toolApproval) => {
  const result = streamText({
    ...(asking as object),
    ...(asking as Pick<Asking, 'model' | 'messages'>),
    ...(toolApproval && { toolApproval: toolApproval as never }),
    stopWhen: stepCountIs(5),
    maxRetries: 0,
    onError: () => undefined,
  });
  const parts: Said['parts'][number][] = [];
  for await (const part of result.fullStream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'abort') throw new DOMException('The run was aborted.', 'AbortError');
    parts.push(part);
  }
  return { messages: await result.responseMessages, parts };
};

export const agentWay: Way = async ({ model, tools, messages, abortSignal }, toolApproval) => {
  const agent = new ToolLoopAgent({
    model,
    tools,
    maxRetries: 0,
    ...(toolApproval && { toolApproval: toolApproval as never }),
  });
  const result = await agent.generate({ messages, ...(abortSignal && { abortSignal }) });
  return {
    messages: result.responseMessages,
    parts: result.steps.flatMap(({ content }) => content),
  };
};

type StreamPart =
  Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer Part>
    ? Part
    : never;

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A model that asks for the calls, and is done when it has their results. */
export function scripted(
  calls: readonly Call[],
  bye: () => string = () => 'bye',
): MockLanguageModelV4 {
  const answer = (prompt: readonly { readonly role: string }[]) => {
    const isDone = calls.length === 0 || prompt.at(-1)?.role === 'tool';
    const content = isDone
      ? [{ type: 'text' as const, text: bye() }]
      : calls.map(({ id, name, args }) => ({
          ...{
            type: 'tool-call' as const,
            toolCallId: id,
            toolName: name,
            input: JSON.stringify(args),
          },
        }));
    const unified = isDone ? ('stop' as const) : ('tool-calls' as const);
    return { content, finishReason: { unified, raw: undefined }, usage: USAGE, warnings: [] };
  };
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => answer(prompt),
    doStream: async ({ prompt }) => {
      const { content, finishReason, usage } = answer(prompt);
      const parts = content.flatMap((part): StreamPart[] =>
        part.type === 'text'
          ? [
              { type: 'text-start' as const, id: 't' },
              { type: 'text-delta' as const, id: 't', delta: part.text },
              { type: 'text-end' as const, id: 't' },
            ]
          : [part],
      );
      const chunks: StreamPart[] = [
        { type: 'stream-start' as const, warnings: [] },
        ...parts,
        { type: 'finish' as const, finishReason, usage },
      ];
      return {
        stream: simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null }),
      };
    },
  });
}

export interface RunOptions extends Partial<AiSdkOptions> {
  readonly pays?: (paid: Paid, options: ToolExecutionOptions<unknown>) => unknown;
  /** The tools, in place of one that pays. */
  readonly tools?: (made: Paid[]) => ToolSet;
  readonly rules?: string;
  /** How long a question waits for a person. */
  readonly timeoutMs?: number;
  /** Whether the SDK learns this only from `needsApproval`. */
  readonly isUntold?: boolean;
}

export async function runOf(way: Way, options: RunOptions = {}): Promise<Run> {
  const { gate, open } = await openShop(options);
  return new Run({ way, options, open, made: [], gate });
}

interface RunParts {
  readonly way: Way;
  readonly options: RunOptions;
  readonly open: () => Promise<Gate>;
  readonly made: Paid[];
  readonly gate: Gate;
}

export interface Question extends ToolApprovalRequest {
  readonly digest: string | undefined;
}

/** A run until its end, or until it waits. */
export interface Ended {
  /** All messages, as a client may hold them. */
  readonly messages: ModelMessage[];
  readonly asks: readonly Question[];
  /** The results of the tools that the model gets, by their calls. */
  readonly told: Readonly<Record<string, Output>>;
  readonly parts: Said['parts'];
}

/** The messages with the answer of a person to every question. */
export function answering(
  { messages, asks }: Ended,
  approved: unknown,
  reason?: string,
): ModelMessage[] {
  const content = asks.map(({ approvalId }) => ({
    ...{ type: 'tool-approval-response' as const, approvalId, approved: approved as boolean },
    ...(reason !== undefined && { reason }),
  }));
  return [...messages, { role: 'tool', content }];
}

export class Run {
  readonly gate: Gate;
  /** The payments that were made, by this run and by its copies. */
  readonly made: Paid[];
  readonly #parts: RunParts;

  constructor(parts: RunParts) {
    this.#parts = parts;
    this.gate = parts.gate;
    this.made = parts.made;
  }

  get tools(): ToolSet {
    const { options, made } = this.#parts;
    const {
      pays = ({ to }) => `paid ${to}`,
      approver,
      idempotent,
      streaming,
      waitMs,
      run = 'r1',
    } = options;
    const tools = options.tools?.(made) ?? {
      pay: tool({
        description: 'Pays.',
        inputSchema: z.object({ to: z.string(), cents: z.number() }),
        execute: async (paid: Paid, given) => {
          made.push(paid);
          return (await pays(paid, given as never)) as string;
        },
      }),
    };
    return assizeTools(this.gate, tools as ToolSet, {
      run,
      ...(approver && { approver }),
      ...(idempotent && { idempotent }),
      ...(streaming && { streaming }),
      ...(waitMs !== undefined && { waitMs }),
    });
  }

  start(calls: readonly Call[], abortSignal?: AbortSignal): Promise<Ended> {
    return this.#say(calls, [{ role: 'user', content: 'go' }], abortSignal);
  }

  /** Continues with messages, in which the calls of the model are already. */
  resume(messages: readonly ModelMessage[]): Promise<Ended> {
    return this.#say([], messages);
  }

  /** The same run in another process. */
  async copy(options: RunOptions = {}): Promise<Run> {
    const { open } = this.#parts;
    return new Run({
      ...this.#parts,
      options: { ...this.#parts.options, ...options },
      gate: await open(),
    });
  }

  async #say(
    calls: readonly Call[],
    messages: readonly ModelMessage[],
    abortSignal?: AbortSignal,
  ): Promise<Ended> {
    const { way, options } = this.#parts;
    // A client gives the messages as JSON.
    const given = JSON.parse(JSON.stringify(messages)) as ModelMessage[];
    const asking = {
      model: scripted(calls),
      tools: this.tools,
      messages: given,
      ...(abortSignal && { abortSignal }),
    };
    const said = await way(asking, options.isUntold === true ? undefined : assizeApproval);
    const all = [...given, ...said.messages];
    const contents = all.flatMap(({ content }) =>
      Array.isArray(content) ? (content as (AssistantPart | ToolPart)[]) : [],
    );
    const results = contents.filter((part) => part.type === 'tool-result');
    const told = Object.fromEntries(results.map(({ toolCallId, output }) => [toolCallId, output]));
    const asks = contents.flatMap((part) =>
      part.type === 'tool-approval-request' &&
      part.isAutomatic !== true &&
      told[part.toolCallId] === undefined
        ? [{ ...part, digest: /digest: (\w+)/.exec(part.reason ?? '')?.[1] }]
        : [],
    );
    return { messages: all, asks, told, parts: said.parts };
  }
}

/** Decides about the call of a question, as in the console. */
export async function decide(
  { gate }: Run,
  call: { readonly id: string; readonly args: object },
  decision: 'approve' | 'reject',
  run = 'r1',
): Promise<void> {
  const end = await gate.judge({ run, tool: 'pay', ...call } as never);
  if (end.end !== 'pending') throw new Error(`the call is ${end.end}`);
  const { digest } = (await gate.port.shown(end.approval))!;
  await gate.port.decide(end.approval, {
    decision,
    by: 'manager:grace',
    method: 'console',
    digest,
  });
}

export const named: RunOptions = { approver: () => 'manager:grace' };
