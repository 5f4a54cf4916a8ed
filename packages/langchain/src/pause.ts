import type { HeldCall } from '@assize/gate/internal/calls';
import type { Json } from 'assize/internal/base';
import type { HITLRequest } from 'langchain';

/** A call that waits for a person, as the pause tells it. */
export type PausedCall = Pick<HeldCall, 'call' | 'approval' | 'digest' | 'reason' | 'page'>;

/** The value of an interrupt: a request of LangChain for a person, and the call in the ledger. */
export interface AssizeInterrupt extends HITLRequest {
  readonly assize: PausedCall;
}

/** The value of an interrupt in the form of AG-UI 1.0. */
export interface AgUiInterrupt {
  readonly type: 'interrupt';
  readonly interrupts: readonly {
    readonly id: string;
    readonly reason: 'approval_required';
    readonly message: string;
    readonly toolCallId: string;
    readonly responseSchema: Json;
    readonly metadata: PausedCall & { readonly tool: string; readonly args: Json };
  }[];
}

/** A pause as LangChain's own middleware for people asks. */
export function hitlInterrupt(held: HeldCall): AssizeInterrupt {
  const { tool, args, reason, page } = held;
  const at = page === undefined ? '' : `\n\n${page}`;
  return {
    actionRequests: [{ name: tool, args, description: `${reason}${at}` }],
    reviewConfigs: [{ actionName: tool, allowedDecisions: ['approve', 'edit', 'reject'] }],
    assize: pausedCall(held),
  };
}

/** A pause as a client of AG-UI 1.0 shows it. */
export function agUiInterrupt(held: HeldCall): AgUiInterrupt {
  const { id, tool, args, approval, reason } = held;
  return {
    type: 'interrupt',
    interrupts: [
      {
        ...{ id: approval, reason: 'approval_required', message: reason, toolCallId: id },
        responseSchema: RESPONSE,
        metadata: { ...pausedCall(held), tool, args },
      },
    ],
  };
}

function pausedCall({
  run: _run,
  id: _id,
  tool: _tool,
  args: _args,
  ...paused
}: HeldCall): PausedCall {
  return paused;
}

/** The answer of a person, as the server's own interrupts take it. */
const RESPONSE = {
  type: 'object',
  properties: {
    decision: { enum: ['approve', 'reject'] },
    reason: { type: 'string' },
    args: { type: 'object' },
  },
  required: ['decision'],
};
