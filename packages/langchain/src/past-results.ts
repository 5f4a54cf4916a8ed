import type { HeldCall } from '@assize/gate/internal/calls';
import { isInterimText } from '@assize/gate/internal/tool-calls';
import { AIMessage, type BaseMessage, ToolMessage } from '@langchain/core/messages';
import { isCommand } from '@langchain/langgraph';
import type { Json } from 'assize/internal/base';
import type { PastResult } from './gated-call.ts';
import type { ToolResult } from './results.ts';

/** A call of the model, as its message has it. */
export interface ModelCall {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, Json>>;
}

/** A conversation as the ledger sees it. */
export interface LedgerAnswers {
  /** The calls that still wait for a person. */
  readonly waiting: readonly HeldCall[];
  /** The messages, with a result beside each call. That of a call that waits says so. */
  readonly messages: BaseMessage[];
}

/**
 * Puts a result beside each call of the messages that has none, as the user wrote on while it
 * waited. Undefined for a call that no gate has: it stays as it is.
 */
export async function withPastResults(
  messages: readonly BaseMessage[],
  resultOf: (call: ModelCall) => Promise<PastResult | undefined>,
): Promise<LedgerAnswers> {
  const known = messages.filter(
    (message) => !ToolMessage.isInstance(message) || !isInterimText(message.content),
  );
  const done = new Set(
    known.flatMap((message) => (ToolMessage.isInstance(message) ? [message.tool_call_id] : [])),
  );
  const waiting: HeldCall[] = [];
  const placed: BaseMessage[] = [];
  for (const message of known) {
    placed.push(message);
    for (const call of AIMessage.isInstance(message) ? (message.tool_calls ?? []) : []) {
      const { id } = call;
      if (id === undefined || done.has(id)) continue;
      const past = await resultOf(call as ModelCall);
      if (past === undefined) continue;
      if (past.held !== undefined) waiting.push(past.held);
      placed.push(messageOf(past.result, id, call.name));
    }
  }
  return { waiting, messages: placed };
}

/** Of a command, only its message for the call counts: the node that could update has passed. */
function messageOf(result: ToolResult, id: string, name: string): BaseMessage {
  if (!isCommand(result)) return result;
  const { messages } = (result.update ?? {}) as { readonly messages?: unknown };
  const own = Array.isArray(messages)
    ? messages.find((one) => (one as ToolMessage | null)?.tool_call_id === id)
    : undefined;
  return own ?? new ToolMessage({ content: 'The call is made.', tool_call_id: id, name });
}
