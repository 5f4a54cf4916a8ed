/**
 * Memory for a chat in two calls, `remember` and `recall`, over the bitemporal facts of a
 * trajectory: names that mean one thing, several spaces in one recall, metadata, pages, a text for
 * a prompt within a budget of tokens, and the repair of conclusions from a false fact.
 *
 * Guarantees: a repeated call of `remember` asks no model and changes nothing. A reworded fact of
 * declared names is a duplicate. `context` never exceeds its budget, and no text of a fact makes
 * another line of it. The pages of one recall are as of one time and name no version twice. A space
 * is read only if the writ covers it.
 *
 * Never: a channel other than proposals under the writ. A model's answer is data.
 */
export type { ChatFact } from './chat-fact.ts';
export {
  type AliasInput,
  type AliasProposals,
  ChatMemory,
  type ChatMemoryOptions,
  type ChatWorld,
  chatMemory,
} from './chat-memory.ts';
export {
  ALIAS,
  CHAT_PREDICATES,
  type ChatDomainOptions,
  chatDomain,
  PREDICATE_ALIAS,
} from './domain.ts';
export { ChatMemoryError } from './errors.ts';
export type { RecallFilter } from './filter.ts';
export { type ChatMessage, MESSAGES_MAX } from './messages.ts';
export type { ChatRecall, RecallObservation, RecallOptions } from './recall.ts';
export type { GivenFact, Question, Remembered, RememberOptions } from './remember.ts';
export type { FactToRepair, Repair, RepairOptions, WithdrawnStatement } from './repair.ts';
export type { DeclaredAliases } from './space-aliases.ts';
export { estimateTokens } from './tokens.ts';
