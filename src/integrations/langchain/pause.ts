import type { HITLRequest } from 'langchain';
import type { Json } from '#base';

/** A call that waits for a person, as the pause tells it. */
export interface PausedCall {
  /** The id of the call in the ledger. */
  readonly call: string;
  readonly approval: string;
  /** The hash of exactly this call, which a decision names. */
  readonly digest: string;
  /** The rules that ask, and why. */
  readonly reason: string;
  /** The page of the call in the console, if a server has one. */
  readonly page?: string;
}

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

/** The tool and the arguments of a held call, and the model's id of it. */
export interface HeldTool {
  readonly id: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, Json>>;
}

/** A pause as LangChain's own middleware for people asks. */
export function hitlInterrupt({ tool, args }: HeldTool, paused: PausedCall): AssizeInterrupt {
  const at = paused.page === undefined ? '' : `\n\n${paused.page}`;
  return {
    actionRequests: [{ name: tool, args, description: `${paused.reason}${at}` }],
    reviewConfigs: [{ actionName: tool, allowedDecisions: ['approve', 'edit', 'reject'] }],
    assize: paused,
  };
}

/** A pause as a client of AG-UI 1.0 shows it. */
export function agUiInterrupt({ id, tool, args }: HeldTool, paused: PausedCall): AgUiInterrupt {
  const { approval, reason } = paused;
  return {
    type: 'interrupt',
    interrupts: [
      {
        ...{ id: approval, reason: 'approval_required', message: reason, toolCallId: id },
        responseSchema: RESPONSE,
        metadata: { ...paused, tool, args },
      },
    ],
  };
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
