import type { ModelMessage, ToolApprovalRequest, ToolApprovalResponse, ToolCallPart, ToolSet } from 'ai';
import { arg, checkArgument } from '#base';
import type { HeldCall } from '#calls';
import { answeredIn, callsIn, requestsIn } from './asked-in.ts';
import { gateOf } from './assize-tools.ts';

/** A run as the ledger sees it. */
export interface LedgerAnswers {
  /** The calls that still wait for a person. While there are any, the run cannot go on. */
  readonly waiting: readonly HeldCall[];
  /** The messages with the ledger's answer to each question, for the next `generateText`. */
  readonly messages: ModelMessage[];
}

/**
 * Answers the SDK's questions about tools of `assizeTools` from the ledger. A response in the last
 * message is recorded first, an approval as well as a rejection, if the program names its person.
 * A call that was decided in the console needs no response.
 *
 * @throws AiSdkError; ArgumentError `bad_argument`; the errors of `Gate.judge` and of
 * `CallPort.decide`
 */
export async function assizeAnswers(
  tools: ToolSet,
  messages: readonly ModelMessage[],
  toolsContext: Readonly<Record<string, unknown>> = {},
): Promise<LedgerAnswers> {
  checkArgument(arg.object, tools, 'tools');
  checkArgument(arg.list(arg.object), messages, 'messages');
  checkArgument(arg.object, toolsContext, 'toolsContext');
  const waiting: HeldCall[] = [];
  const responses: ToolApprovalResponse[] = [];
  for (const { request, call } of openQuestions(messages)) {
    const { toolName, toolCallId, input } = call;
    const gated = Object.hasOwn(tools, toolName) ? gateOf(tools[toolName]) : undefined;
    if (gated === undefined) continue;
    const place = { toolCallId, messages, context: toolsContext[toolName] };
    const end = await gated.judged(input, place);
    const held = end.end === 'pending' ? await gated.gate.held(gated.callOf(input, place), end) : undefined;
    if (held !== undefined) waiting.push(held);
    else responses.push(responseTo(request, end.end === 'refused' ? end.reason : undefined));
  }
  return { waiting, messages: answered(messages, responses) };
}

interface OpenQuestion {
  readonly request: ToolApprovalRequest;
  readonly call: ToolCallPart;
}

/** The questions about calls without a result, each call once. */
function openQuestions(messages: readonly ModelMessage[]): readonly OpenQuestion[] {
  const done = answeredIn(messages);
  const calls = new Map(callsIn(messages).map((call) => [call.toolCallId, call]));
  const open = new Map<string, OpenQuestion>();
  for (const request of requestsIn(messages)) {
    const call = calls.get(request.toolCallId);
    if (call !== undefined && !done.has(call.toolCallId)) open.set(call.toolCallId, { request, call });
  }
  return [...open.values()];
}

function responseTo({ approvalId }: ToolApprovalRequest, refused: string | undefined): ToolApprovalResponse {
  const approved = refused === undefined;
  return { type: 'tool-approval-response', approvalId, approved, ...(!approved && { reason: refused }) };
}

/** The messages with these responses at the end, in place of those to the same questions. */
function answered(messages: readonly ModelMessage[], responses: readonly ToolApprovalResponse[]): ModelMessage[] {
  if (responses.length === 0) return [...messages];
  const last = messages.at(-1);
  const ids = new Set(responses.map(({ approvalId }) => approvalId));
  const kept = last?.role === 'tool' ? last.content : [];
  const others = kept.filter((part) => part.type !== 'tool-approval-response' || !ids.has(part.approvalId));
  const before = last?.role === 'tool' ? messages.slice(0, -1) : messages;
  return [...before, { role: 'tool', content: [...others, ...responses] }];
}
