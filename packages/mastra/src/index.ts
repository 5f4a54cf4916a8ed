/**
 * Tool calls of Mastra through the gate: of agents, and of steps of workflows. Mastra itself, the
 * optional peer `@mastra/core`, is not imported: a tool is known by its form.
 *
 * Guarantees: a call is judged by the rules, and made at most once for its run and its id. A run
 * that is resumed, retried or travels in time gets the recorded result. A call that waits for a
 * person is suspended, and the ledger alone decides when it goes on.
 *
 * Never: an approval without a person that the program names, or that the ledger has recorded.
 */
export type { ToolOptions } from '@assize/gate/internal/tool-calls';
export { answerTo, type CallAnswer, type CallDecision } from './answer.ts';
export { gatedTools } from './gated-tools.ts';
export type { CallIdentity, MastraOptions } from './options.ts';
export type { AssizeSuspension, SuspendedCall } from './pause.ts';
export type { AgentCall, MastraTool, Suspendable, ToolContext, WorkflowCall } from './tool.ts';
export { undoTools } from './undo-tools.ts';
