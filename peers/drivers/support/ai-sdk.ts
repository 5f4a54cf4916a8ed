/** The common part of the drivers of the AI SDK: `generateText` over messages in a file. */

import type {
  Answers,
  DriverHandlers,
  DriverSetup,
  PersonAnswer,
  Progress,
  Told,
  ToolName,
  WaitingCall,
  WantedCall,
} from '@assize/testing/conformance';
import {
  type AssistantContent,
  generateText,
  type ModelMessage,
  stepCountIs,
  type ToolApprovalRequest,
  type ToolContent,
  type ToolResultPart,
  type ToolSet,
  tool,
} from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';
import { FREE_SCHEMAS, TOOLS } from './free-tools.ts';
import { JsonFiles } from './json-file.ts';
import { versionsOf } from './versions.ts';

export interface AiSdkParts {
  /** The tools of a run, for the person that the program has authenticated. */
  readonly toolsOf: (run: string, tools: ToolSet, person: Person) => ToolSet;
  readonly toolApproval: unknown;
  /** Signs the requests for an approval. Absent: they are not signed. */
  readonly secret?: string;
  /** The messages to go on with, or undefined while calls wait. Default: the messages as they are. */
  readonly answered?: (
    tools: ToolSet,
    messages: ModelMessage[],
  ) => Promise<ModelMessage[] | undefined>;
}

/** As an answer has it: of any kind. */
type Person = NonNullable<PersonAnswer>['person'];
type Handlers = Omit<DriverHandlers, 'name' | 'versions' | 'cannot'>;
type Part = Exclude<AssistantContent, string>[number] | ToolContent[number];

export const AI_SDK_VERSIONS = versionsOf('ai');

/** The operations of runs with these tools. */
export function aiSdkHandlers({ folder, effect }: DriverSetup, parts: AiSdkParts): Handlers {
  const { toolsOf, toolApproval, secret, answered = async (_tools, messages) => messages } = parts;
  const wanted = new JsonFiles<readonly WantedCall[]>(folder, 'calls');
  const stored = new JsonFiles<ModelMessage[]>(folder, 'messages');

  const money = z.object({ to: z.string(), cents: z.number() });
  const schemas = { pay: money, refund: money, ...FREE_SCHEMAS };
  const toolOf = (run: string, name: ToolName) =>
    tool<any, any>({
      inputSchema: schemas[name],
      execute: async (args: any, { toolCallId, abortSignal }: any) =>
        effect({ run, call: toolCallId, tool: name, args }, { signal: abortSignal }),
    });

  /** Goes on with messages that are stored, and stores what is said. */
  async function goOn(run: string, messages: ModelMessage[], person?: Person): Promise<Progress> {
    const made = Object.fromEntries(TOOLS.map((name) => [name, toolOf(run, name)])) as ToolSet;
    const tools = toolsOf(run, made, person);
    const given = await answered(tools, messages);
    if (given === undefined) return progressOf(messages);
    const { responseMessages } = await generateText({
      model: modelOf(wanted.read(run) ?? []),
      ...{ tools, messages: given, maxRetries: 0, stopWhen: stepCountIs(5) },
      toolApproval: toolApproval as never,
      ...(secret !== undefined && { experimental_toolApprovalSecret: secret }),
    });
    const all = [...given, ...responseMessages];
    stored.write(run, all);
    return progressOf(all);
  }

  /** The messages with the responses of a client. Messages that the SDK refuses are not kept. */
  async function respond(run: string, content: ToolContent, person: Person): Promise<Progress> {
    const before = stored.read(run) ?? [];
    const messages: ModelMessage[] = [...before, { role: 'tool', content }];
    stored.write(run, messages);
    try {
      return await goOn(run, messages, person);
    } catch (error) {
      stored.write(run, before);
      throw error;
    }
  }

  return {
    start({ run, calls }) {
      wanted.write(run, calls);
      return goOn(run, [...(stored.read(run) ?? []), { role: 'user', content: 'go' }]);
    },
    resume({ run, answers }) {
      const runs = [run, ...stored.runs().filter((each) => each !== run)];
      const requests = runs.flatMap((each) => requestsIn(stored.read(each) ?? []));
      const person = Object.values(answers).find((answer) => answer?.person !== undefined)?.person;
      return respond(run, responsesTo(requests, answers), person);
    },
    retry: ({ run }) => goOn(run, stored.read(run) ?? []),
    fork({ run }) {
      const messages = stored.read(run) ?? [];
      const at = messages.findLastIndex(({ content }) =>
        partsOf([{ content }]).some(({ type }) => type === 'tool-call'),
      );
      return goOn(run, messages.slice(0, at));
    },
    tamper: async ({ run, call, tool: toolName, args }) => {
      let changed = 0;
      const messages = JSON.parse(JSON.stringify(stored.read(run)), (_, member) => {
        if (member?.type !== 'tool-call' || member.toolCallId !== call) return member;
        changed++;
        return { ...member, toolName, input: args };
      });
      stored.write(run, messages);
      return changed;
    },
    end: async () => [],
    shown: async ({ run }) => waitingIn(stored.read(run) ?? []),
  };
}

/** The mock model asks for the calls, and is done when it has their results. */
function modelOf(calls: readonly WantedCall[]): MockLanguageModelV4 {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } } as never;
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const isDone = prompt.at(-1)?.role !== 'user';
      return {
        content: isDone
          ? [{ type: 'text', text: 'bye' }]
          : calls.map(({ id, tool: toolName, args }) => ({
              ...{
                type: 'tool-call' as const,
                toolCallId: id,
                toolName,
                input: JSON.stringify(args),
              },
            })),
        finishReason: { unified: isDone ? 'stop' : 'tool-calls', raw: undefined },
        ...{ usage, warnings: [] },
      };
    },
  });
}

/** The answers as a client sends them. Another decision is sent as it is. */
function responsesTo(requests: readonly ToolApprovalRequest[], answers: Answers): ToolContent {
  return Object.entries(answers).flatMap(([call, answer]) => {
    const request = requests.find(({ toolCallId }) => toolCallId === call);
    if (request === undefined) return [];
    const { approvalId } = request;
    const decision = answer?.decision;
    const approved =
      decision === 'approve' ? true : decision === 'reject' ? false : ((decision ?? null) as never);
    return [{ type: 'tool-approval-response', approvalId, approved }];
  });
}

function partsOf(messages: readonly Pick<ModelMessage, 'content'>[]): readonly Part[] {
  return messages.flatMap(({ content }) => (Array.isArray(content) ? (content as Part[]) : []));
}

function requestsIn(messages: readonly ModelMessage[]): readonly ToolApprovalRequest[] {
  return partsOf(messages).filter(
    (part) => part.type === 'tool-approval-request' && part.isAutomatic !== true,
  ) as readonly ToolApprovalRequest[];
}

function resultsIn(messages: readonly ModelMessage[]): readonly ToolResultPart[] {
  return partsOf(messages).filter((part) => part.type === 'tool-result');
}

function waitingIn(messages: readonly ModelMessage[]): readonly WaitingCall[] {
  const done = new Set(resultsIn(messages).map(({ toolCallId }) => toolCallId));
  const calls = partsOf(messages).filter((part) => part.type === 'tool-call');
  return requestsIn(messages).flatMap(({ toolCallId }) => {
    const call = calls.find((each) => each.toolCallId === toolCallId);
    if (call === undefined || done.has(toolCallId)) return [];
    return [{ call: toolCallId, tool: call.toolName, args: call.input as WantedCall['args'] }];
  });
}

function progressOf(messages: readonly ModelMessage[]): Progress {
  const told: Told[] = resultsIn(messages).map(({ toolCallId, output }) => ({
    ...{ call: toolCallId, isError: /^(error|execution)/.test(output.type) },
    text: 'value' in output ? String(output.value) : String(output.reason),
  }));
  const waiting = waitingIn(messages);
  return waiting.length > 0 ? { state: 'paused', waiting, told } : { state: 'done', told };
}
