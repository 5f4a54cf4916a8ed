import type { ModelMessage, ToolResultPart } from 'ai';

/** The mark of a result that stands in for the one that is not known yet. */
const INTERIM = { assize: { isInterim: true } } as const;

/** A result that a later `assizeAnswers` replaces. */
export function interim(result: ToolResultPart): ToolResultPart {
  return { ...result, providerOptions: { ...result.providerOptions, ...INTERIM } };
}

/** The messages without the results that stand in for others. */
export function withoutInterim(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  return messages.flatMap((message) => {
    if (message.role !== 'tool' || !Array.isArray(message.content)) return [message];
    const content = message.content.filter((part) => part.type !== 'tool-result' || !isInterim(part));
    if (content.length === message.content.length) return [message];
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

function isInterim({ providerOptions }: ToolResultPart): boolean {
  return providerOptions?.['assize']?.['isInterim'] === true;
}

/** Whether the messages go on after a call without its result: the user has written, say. */
export function isWrittenOn(messages: readonly ModelMessage[], toolCallId: string): boolean {
  const at = messages.findIndex((message) => hasCall(message, toolCallId));
  return messages.slice(at + 1).some(({ role }) => role !== 'tool');
}

/** The messages with each result beside its call, where providers want it. */
export function withResults(messages: readonly ModelMessage[], results: readonly ToolResultPart[]): ModelMessage[] {
  const placed: ModelMessage[] = [];
  for (const [at, message] of messages.entries()) {
    const before = messages[at - 1];
    const isAfterCall = message.role === 'tool' && before?.role === 'assistant';
    placed.push(isAfterCall ? { ...message, content: [...message.content, ...resultsOf(before)] } : message);
    const own = resultsOf(message);
    if (own.length > 0 && messages[at + 1]?.role !== 'tool') placed.push({ role: 'tool', content: [...own] });
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
