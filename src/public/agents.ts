/**
 * `assize/agents`: agents as functions of slice and oracle, their scheduling, the replay of whole
 * runs, and durable runs that workers carry to their end.
 *
 * Guarantees: an agent receives a copy of its slice and an oracle, and no other input. One turn is
 * one answer in the oracle log, recorded before any proposal. A replay ends at the same head, or
 * names the first different turn.
 */
export {
  type Agent,
  type AgentIntent,
  type AgentOracle,
  type AgentWait,
  type Arbiter,
  assertMessages,
  type CallResult,
  type CarrierOptions,
  type Decision,
  type DurableAgents,
  type DurableRun,
  type ExtractedClaim,
  type Extraction,
  type ExtractionOptions,
  extractFacts,
  type LastRuling,
  type Message,
  type Model,
  type ReplayRunOptions,
  RunCarrier,
  RunError,
  type RunOptions,
  RunRecords,
  type RunReplay,
  type RunReport,
  type RunTerms,
  RunWorker,
  replayRun,
  runAgents,
  type WorkerOptions,
} from '#agents';
