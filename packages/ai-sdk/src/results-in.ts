import { isInterimText } from '@assize/gate/internal/tool-calls';
import type { ModelMessage, ToolResultPart } from 'ai';
import { requestsIn } from './asked-in.ts';

/** The messages without the interim results of calls that the SDK has asked about. */
export function withoutInterim(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const asked = new Set(requestsIn(messages).map(({ toolCallId }) => toolCallId));
  const isInterim = ({ toolCallId, output }: ToolResultPart): boolean =>
    asked.has(toolCallId) && 'value' in output && isInterimText(output.value);
  return messages.flatMap((message) => {
    if (message.role !== 'tool' || !Array.isArray(message.content)) return [message];
    const content = message.content.filter(
      (part) => part.type !== 'tool-result' || !isInterim(part),
    );
    if (content.length === message.content.length) return [message];
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

/** Whether the messages go on after a call without its result: the user has written, say. */
export function isWrittenOn(messages: readonly ModelMessage[], toolCallId: string): boolean {
  const at = messages.findIndex((message) => hasCall(message, toolCallId));
  return messages.slice(at + 1).some(({ role }) => role !== 'tool');
}

/** The messages with each result beside its call, where providers want it. */
export function withResults(
  messages: readonly ModelMessage[],
  results: readonly ToolResultPart[],
): ModelMessage[] {
  const placed: ModelMessage[] = [];
  for (const [at, message] of messages.entries()) {
    const before = messages[at - 1];
    const isAfterCall = message.role === 'tool' && before?.role === 'assistant';
    placed.push(
      isAfterCall ? { ...message, content: [...message.content, ...resultsOf(before)] } : message,
    );
    const own = resultsOf(message);
    if (own.length > 0 && messages[at + 1]?.role !== 'tool')
      placed.push({ role: 'tool', content: [...own] });
  }
  return placed;

  function resultsOf(message: ModelMessage): readonly ToolResultPart[] {
    return results.filter(({ toolCallId }) => hasCall(message, toolCallId));
  }
}

function hasCall({ role, content }: ModelMessage, id: string): boolean {
  if (role !== 'assistant' || !Array.isArray(content)) return false;
  return content.some((part) => part.type === 'tool-call' && part.toolCallId === id);
}
