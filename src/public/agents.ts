/**
 * `assize/agents`: agents as functions of slice and oracle, their scheduling, and the replay of
 * whole runs.
 *
 * Guarantees: an agent receives a copy of its slice and an oracle, and no other input. One turn is
 * one answer in the oracle log, recorded before any proposal. A replay ends at the same head, or
 * names the first different turn.
 */
export {
  type Agent,
  type AgentIntent,
  type AgentOracle,
  type Arbiter,
  assertMessages,
  type CallResult,
  type Decision,
  type ExtractedClaim,
  type Extraction,
  type ExtractionOptions,
  extractFacts,
  type LastRuling,
  type Message,
  type Model,
  type ReplayRunOptions,
  type RunOptions,
  type RunReplay,
  type RunReport,
  replayRun,
  runAgents,
} from '#agents';
