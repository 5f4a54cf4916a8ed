/**
 * Tool calls of LangChain and LangGraph through the gate, by the optional peers `langchain`,
 * `@langchain/langgraph` and `@langchain/core`.
 *
 * Guarantees: a call is judged by the rules, and made at most once for its thread and its id. A run
 * that is resumed, retried or forked gets the recorded result. A call that waits for a person
 * pauses the graph, and the ledger alone decides when it goes on.
 *
 * Never: an approval without a person that the program names, or that the ledger has recorded.
 */
export type { ToolOptions } from '@assize/gate/internal/tool-calls';
export { answerTo, type CallAnswer, type CallDecision, type Paused } from './answer.ts';
export { assizeAnswers, gatedToolNode, gatedTools, type ToolConfig } from './gated-tools.ts';
export { assizeMiddleware } from './middleware.ts';
export type { AnswerPlace, LangChainOptions } from './options.ts';
export type { LedgerAnswers } from './past-results.ts';
export type { AgUiInterrupt, AssizeInterrupt, PausedCall } from './pause.ts';
export type { CallPlace, Configurable } from './place.ts';
export { undoTools } from './undo-tools.ts';
