import type { ModelMessage, ToolApprovalRequest, ToolApprovalResponse, ToolCallPart } from 'ai';

/** The answer in the last message to the SDK's question about a call. */
export interface GivenAnswer {
  readonly response: ToolApprovalResponse;
  readonly request: ToolApprovalRequest;
}

/**
 * Whether an earlier message has the call already: the run continues, from messages of a client.
 * Agents that give a tool the model's own message give it as the last one.
 */
export function isResumed(messages: readonly ModelMessage[], toolCallId: string): boolean {
  const earlier = messages.at(-1)?.role === 'assistant' ? messages.slice(0, -1) : messages;
  return callsIn(earlier).some((call) => call.toolCallId === toolCallId);
}

/** The calls of the model in the messages. */
export function callsIn(messages: readonly ModelMessage[]): readonly ToolCallPart[] {
  return partsOf(messages, 'assistant').filter((part) => part.type === 'tool-call');
}

/** The questions of the SDK in the messages that wait for a person. */
export function requestsIn(messages: readonly ModelMessage[]): readonly ToolApprovalRequest[] {
  return partsOf(messages, 'assistant').filter(
    (part) => part.type === 'tool-approval-request' && part.isAutomatic !== true,
  ) as readonly ToolApprovalRequest[];
}

/** The calls that have a result in the messages. */
export function answeredIn(messages: readonly ModelMessage[]): ReadonlySet<string> {
  const parts = [...partsOf(messages, 'tool'), ...partsOf(messages, 'assistant')];
  return new Set(parts.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : [])));
}

/** The first answer about a call in the last message: as in the SDK, the others are ignored. */
export function answerIn(
  messages: readonly ModelMessage[],
  toolCallId: string,
): GivenAnswer | undefined {
  const requests = requestsIn(messages);
  for (const part of partsOf(messages.slice(-1), 'tool')) {
    if (part.type !== 'tool-approval-response') continue;
    const request = requests.findLast(({ approvalId }) => approvalId === part.approvalId);
    if (request?.toolCallId === toolCallId) return { response: part, request };
  }
  return undefined;
}

type Part<Role extends 'assistant' | 'tool'> = Exclude<
  Extract<ModelMessage, { readonly role: Role }>['content'],
  string
>[number];

function partsOf<Role extends 'assistant' | 'tool'>(
  messages: readonly ModelMessage[],
  role: Role,
): readonly Part<Role>[] {
  return messages.flatMap((message) =>
    message.role === role && Array.isArray(message.content)
      ? (message.content as Part<Role>[])
      : [],
  );
}
