/**
 * Tool calls of the OpenAI Agents SDK through the gate, and a vault for its run states, by the
 * optional peer `@openai/agents`.
 *
 * Guarantees: a call is judged by the rules, and made at most once for its run and its id. A state
 * that is resumed again gets the recorded result. A call that waits for a person interrupts the
 * run, and the ledger alone decides when it goes on.
 *
 * Never: an approval without a person that the program names, or that the ledger has recorded.
 */
export type { ToolOptions } from '@assize/gate/internal/tool-calls';
export { gatedTools } from './gated-tools.ts';
export { heldCalls } from './held-calls.ts';
export type { OpenAIAgentsOptions, StateAnswer } from './options.ts';
export { assizeAnswers, type LedgerAnswers } from './past-results.ts';
export { undoTools } from './undo-tools.ts';
export { type RunStateVault, type RunStateVaultOptions, runStateVault } from './vault.ts';
