/**
 * Tool calls of the AI SDK through the gate, and its models through the oracle log, by the optional
 * peer `ai`.
 *
 * Guarantees: a call is judged by the rules, and made at most once for its run and its id. Messages
 * that are sent twice get the recorded result. A call in the messages that the ledger was not asked
 * about before, or with other arguments, is refused. A call that waits for a person becomes the
 * SDK's approval request, and the ledger alone decides when it goes on.
 *
 * Never: an approval without a person that the program names, or that the ledger has recorded.
 */
export type { ToolOptions } from '@assize/gate/internal/tool-calls';
export { assizeAnswers, type LedgerAnswers } from './answers.ts';
export { type ApprovalAsked, assizeApproval } from './approval.ts';
export { assizeTools } from './assize-tools.ts';
export type { AiSdkOptions, CallPlace } from './options.ts';
export { type RecordedModelOptions, recordedModel } from './recorded-model.ts';
export { undoTools } from './undo-tools.ts';
