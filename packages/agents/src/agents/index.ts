/**
 * Agents as functions of slice and oracle, their scheduling, and the replay of whole runs from the
 * ledger and the oracle log (Agentic Redux, A.1.5 to A.1.13; docs/decisions/014-oracle-log.md).
 *
 * Guarantees: an agent receives a copy of its slice and an oracle, and no other input. The entry of
 * its proposal contains its questions and answers. One turn is one answer in the oracle log,
 * recorded before any proposal. An interrupted run resumes without a second proposal or call. A
 * replay ends at the same head, byte by byte, or names the first different turn. A simulation
 * continues copies of a trajectory in memory, and calls no real tool.
 *
 * Never: a channel between agents other than the state; a call, a clock or randomness in a replay.
 * May import canon, authority, ledger, kernel, oracle, effects, runtime, extraction, and the memory
 * store.
 */

export { COORDINATOR, turnKey } from 'assize/internal/oracle';
export type {
  Agent,
  AgentIntent,
  AgentOracle,
  AgentQuestion,
  AgentWait,
  CallResult,
  Decision,
  LastRuling,
} from './agent.ts';
export { QUESTIONS_MAX } from './agent-oracle-session.ts';
export { type AssertMessagesTerms, assertMessages } from './assert-messages.ts';
export {
  type CarrierOptions,
  type DurableAgents,
  type DurableRun,
  RunCarrier,
  RunError,
  type RunErrorCode,
  type RunFailure,
  type RunGiven,
  type RunLease,
  RunRecords,
  type RunStatus,
  type RunStore,
  type RunsQuery,
  type RunTerms,
  type RunVersion,
  RunWorker,
  type WorkerOptions,
} from './durable/index.ts';
export { AgentError, type AgentErrorCode } from './errors.ts';
export type { ExtractedClaim, LeftOutFact } from './extraction/answer.ts';
export { ExtractionError, type ExtractionErrorCode } from './extraction/errors.ts';
export {
  type AskModel,
  type Extracted,
  type Extraction,
  type ExtractionObservation,
  type ExtractionOptions,
  extractFacts,
  extractWith,
} from './extraction/extract.ts';
export type { Message } from './extraction/message.ts';
export { ATTEMPTS_MAX, type ExtractionTerms, type Model } from './extraction/terms.ts';
export {
  type ReplayRunOptions,
  type ReplaySource,
  type RunDifference,
  type RunReplay,
  replayRun,
} from './replay.ts';
export type { ReplayedLedger } from './replay-store.ts';
export {
  type Arbiter,
  type Arbitration,
  type CompletedTurn,
  type OpenPending,
  type RunOptions,
  type RunReport,
  runAgents,
} from './run.ts';
export {
  badSimulation,
  configuredVariants,
  type Parting,
  type People,
  type RecordedSummary,
  type RulingCounts,
  type SampleFault,
  type SampleFigures,
  type SampleOutcome,
  type SampleResult,
  type SimulatedCall,
  type SimulateOptions,
  type Simulation,
  type SimulationGiven,
  type SimulationLimits,
  type SimulationSource,
  type SimulatorContext,
  type SimulatorRule,
  type Step,
  simulate,
  simulationDocument,
  type ToolSimulator,
  type Variant,
  type VariantParting,
  type VariantResult,
} from './simulate/index.ts';
export type { AgentTurn, CounselDecision, CounselTurn, Turn } from './turn.ts';
