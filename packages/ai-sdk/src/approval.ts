import { CallError } from '@assize/gate/internal/calls';
import type { ToolApprovalStatus, ToolSet } from 'ai';
import { arg, checkArgument, isRecord } from 'assize/internal/base';
import { gateOf } from './assize-tools.ts';
import { questionOf } from './question.ts';

/** A call that the SDK asks about, before it is made. */
export interface ApprovalAsked {
  readonly toolCall: {
    readonly toolName: string;
    readonly toolCallId: string;
    readonly input: unknown;
  };
  readonly tools: ToolSet | undefined;
  readonly toolsContext: unknown;
  readonly messages: any[];
}

/**
 * The approval of the tools of `assizeTools`, for `toolApproval` of `generateText`, `streamText`
 * and `ToolLoopAgent`. A call that needs a person becomes the SDK's approval request, with the
 * rule's reason, and a refused one its denial. Other tools keep their own `needsApproval`.
 *
 * @throws CallError `call_pending` if the run was resumed, and the call still waits; CallError;
 * the errors of `Gate.judge` and of `CallPort.decide`
 */
export async function assizeApproval(asked: ApprovalAsked): Promise<ToolApprovalStatus> {
  checkArgument(ASKED, asked, 'asked');
  const { toolCall, tools, toolsContext, messages } = asked;
  const { toolName, toolCallId, input } = toolCall;
  const tool = ownOf(tools, toolName);
  const place = { toolCallId, messages, context: ownOf(toolsContext, toolName) };
  const gated = gateOf(tool);
  if (gated === undefined) {
    requireGated(tools);
    return ownApproval(tool, input, place);
  }
  const end = await gated.judge(input, place);
  if (end.end === 'refused') return { type: 'denied', reason: end.reason };
  if (end.end !== 'pending') return 'not-applicable';
  const held = await gated.gate.held(gated.callOf(input, place), end);
  return { type: 'user-approval', reason: held === undefined ? end.reason : questionOf(held) };
}

/** A set in which no gate has any tool was forgotten, and would be made without its rules. */
function requireGated(tools: ToolSet | undefined): void {
  const all: readonly unknown[] = Object.values(tools ?? {});
  const isMadeHere = (tool: unknown): boolean =>
    isRecord(tool) && typeof tool['execute'] === 'function';
  if (!all.some(isMadeHere) || all.some((tool) => gateOf(tool) !== undefined)) return;
  throw new CallError(
    'bad_argument',
    'No tool of the call is gated. Pass the tools that assizeTools returns.',
  );
}

const ASKED = arg.members({
  toolCall: arg.members({ toolName: arg.text, toolCallId: arg.text }),
  tools: arg.optional(arg.object),
  messages: arg.list(arg.object),
});

/** A function for the whole set comes before the approval of a tool. That still counts. */
async function ownApproval(
  tool: unknown,
  input: unknown,
  place: object,
): Promise<ToolApprovalStatus> {
  const { needsApproval } = (tool ?? {}) as { readonly needsApproval?: unknown };
  const isNeeded =
    typeof needsApproval === 'function' ? await needsApproval(input, place) : needsApproval;
  return isNeeded === undefined || isNeeded === false ? 'not-applicable' : 'user-approval';
}

function ownOf(members: unknown, name: string): unknown {
  if (typeof members !== 'object' || members === null || !Object.hasOwn(members, name))
    return undefined;
  return (members as Record<string, unknown>)[name];
}
