import type { HeldCall } from '@assize/gate/internal/calls';
import { waitsText } from '@assize/gate/internal/tool-calls';
import type {
  ModelMessage,
  ToolApprovalRequest,
  ToolApprovalResponse,
  ToolCallPart,
  ToolResultPart,
  ToolSet,
} from 'ai';
import { arg, checkArgument } from 'assize/internal/base';
import { answeredIn, callsIn, requestsIn } from './asked-in.ts';
import { gateOf } from './assize-tools.ts';
import { isWrittenOn, withoutInterim, withResults } from './results-in.ts';

/** A run as the ledger sees it. */
export interface LedgerAnswers {
  /** The calls that still wait for a person. */
  readonly waiting: readonly HeldCall[];
  /**
   * The messages with the ledger's answer to each question, for the next `generateText`. A call
   * that waits has an interim result that says so, until a later `assizeAnswers` replaces it.
   */
  readonly messages: ModelMessage[];
}

/**
 * Answers the SDK's questions about tools of `assizeTools` from the ledger. A response in the last
 * message is recorded first, an approval as well as a rejection, if the program names its person.
 * A call that was decided in the console needs no response.
 *
 * Where the messages go on after a question, as the user has written meanwhile, the SDK makes the
 * call no more. It is made here then, once, and its result stands beside it.
 *
 * @throws CallError; ArgumentError `bad_argument`; the errors of `Gate.judge`, of `Gate.run`
 * and of `CallPort.decide`
 */
export async function assizeAnswers(
  tools: ToolSet,
  messages: readonly ModelMessage[],
  toolsContext: Readonly<Record<string, unknown>> = {},
): Promise<LedgerAnswers> {
  checkArgument(arg.object, tools, 'tools');
  checkArgument(arg.list(arg.object), messages, 'messages');
  checkArgument(arg.object, toolsContext, 'toolsContext');
  const asked = withoutInterim(messages);
  const waiting: HeldCall[] = [];
  const responses: ToolApprovalResponse[] = [];
  const results: ToolResultPart[] = [];
  for (const { request, call } of openQuestions(asked)) {
    const { toolName, toolCallId, input } = call;
    const gated = Object.hasOwn(tools, toolName) ? gateOf(tools[toolName]) : undefined;
    if (gated === undefined) continue;
    const place = { toolCallId, messages: asked, context: toolsContext[toolName] };
    const result = { type: 'tool-result', toolCallId, toolName } as const;
    const end = await gated.judged(input, place);
    const held =
      end.end === 'pending' ? await gated.gate.held(gated.callOf(input, place), end) : undefined;
    if (held !== undefined) {
      waiting.push(held);
      results.push({ ...result, output: { type: 'text', value: waitsText(held.reason) } });
    } else if (isWrittenOn(asked, toolCallId)) {
      results.push({ ...result, output: await gated.output(input, place) });
    } else responses.push(responseTo(request, end.end === 'refused' ? end.reason : undefined));
  }
  return { waiting, messages: answered(withResults(asked, results), responses) };
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
    if (call !== undefined && !done.has(call.toolCallId))
      open.set(call.toolCallId, { request, call });
  }
  return [...open.values()];
}

function responseTo(
  { approvalId }: ToolApprovalRequest,
  refused: string | undefined,
): ToolApprovalResponse {
  const approved = refused === undefined;
  return {
    type: 'tool-approval-response',
    approvalId,
    approved,
    ...(!approved && { reason: refused }),
  };
}

/** The messages with these responses at the end, in place of those to the same questions. */
function answered(
  messages: readonly ModelMessage[],
  responses: readonly ToolApprovalResponse[],
): ModelMessage[] {
  if (responses.length === 0) return [...messages];
  const last = messages.at(-1);
  const ids = new Set(responses.map(({ approvalId }) => approvalId));
  const kept = last?.role === 'tool' ? last.content : [];
  const others = kept.filter(
    (part) => part.type !== 'tool-approval-response' || !ids.has(part.approvalId),
  );
  const before = last?.role === 'tool' ? messages.slice(0, -1) : messages;
  return [...before, { role: 'tool', content: [...others, ...responses] }];
}
