/**
 * Agents as functions of their slice and of the oracle, who of them is next, and a whole run again from the ledger and the
 * oracle log alone (seed 000, A.1.5 to A.1.13; DESIGN §8).
 *
 * Guarantees: an agent is given a copy of its slice and an oracle, and nothing else; what it consulted stands in the entry
 * that its proposal became; one turn is one answer in the oracle log, there before anything is proposed; a run that was
 * interrupted goes on without a second proposal or a second call; a replay comes to the same head, byte by byte, or names the
 * first turn that does not.
 * Never: another way from one agent to another than the world; a call, a clock or chance in a replay.
 * May import canon, authority, ledger, kernel, oracle, runtime, extraction, and of the stores the one in memory.
 */

export { COORDINATOR, turnKey } from '#oracle';
export type { Agent, AgentAsking, AgentIntent, AgentOracle, Decision } from './agent.ts';
export { type BelievingTerms, believeMessages } from './believing.ts';
export { ASKS_MAX } from './consulting.ts';
export { AgentError, type AgentErrorCode } from './errors.ts';
export type { ExtractedClaim } from './extraction/answer.ts';
export { ExtractionError, type ExtractionErrorCode } from './extraction/errors.ts';
export {
  type AskModel,
  type Extracted,
  type Extraction,
  type ExtractionObservation,
  type ExtractionOptions,
  extractFacts,
  extractThrough,
} from './extraction/extract.ts';
export type { Message } from './extraction/message.ts';
export { ATTEMPTS_MAX, type ExtractionTerms, type Model } from './extraction/terms.ts';
export { type ReplayRunOptions, type ReplaySource, type RunDifference, type RunReplay, replayRun } from './replay.ts';
export type { ReplayedLedger } from './replay-store.ts';
export {
  type Arbiter,
  type Arbitration,
  type OpenPending,
  type RunOptions,
  type RunReport,
  runAgents,
  type TurnDone,
} from './run.ts';
export type { AgentTurn, CounselDecision, CounselTurn, Turn } from './turn.ts';
