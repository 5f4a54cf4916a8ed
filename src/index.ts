/**
 * Assize: agents propose, a kernel decides, one hash-chained ledger records it all.
 *
 * The entry that most programs need. Tools, memory, agents, stores, audits and test suites have
 * entries of their own: `assize/effects`, `assize/memory`, `assize/agents`, `assize/stores`,
 * `assize/audit`, `assize/testing` and `assize/tools/…`.
 */
export {
  attenuate,
  delegateWrit,
  issueWrit,
  type Policy,
  parseRuleTable,
  parseWrit,
  ruleTable,
  type Writ,
  writId,
} from '#authority';
export { AssizeError, isAssizeError, type Json } from '#base';
export { canonicalize, contentHash, generateKeys, instantFromMillis, type KeyPair, parseStrict } from '#canon';
export {
  count,
  type Domain,
  defineDomain,
  type Erased,
  each,
  escalate,
  type InvariantResult,
  invariant,
  isErased,
  pass,
  reject,
  sensitive,
  sum,
  unique,
} from '#kernel';
export {
  checkRow,
  type Entry,
  type EntryRow,
  entryRow,
  LedgerFault,
  type LedgerStore,
  Replayer,
  readRow,
  type VerifyReport,
  verifyTrajectory,
} from '#ledger';
export type { Embedder } from '#memory';
export {
  type Clock,
  createOracle,
  fixedClock,
  type Pause,
  type Random,
  seededRandom,
  systemClock,
  systemPause,
  systemRandom,
} from '#oracle';
export {
  type ApprovalInput,
  type ApprovalOptions,
  Assize,
  type AssizeOptions,
  type BranchOptions,
  type Conclusion,
  type CreateOptions,
  type DelegationInput,
  type EffectOptions,
  type ErasureInput,
  type ErasureRuling,
  type Judge,
  type Memory,
  type MemoryOptions,
  type MemoryRuntimeOptions,
  type MemoryView,
  type OpenDelegation,
  type Origin,
  type Proposal,
  type ProposalInput,
  type Recalled,
  type RecallQuery,
  type RejectionInput,
  type Revocation,
  type RevocationInput,
  type Ruling,
  RuntimeError,
  type RuntimePorts,
  type Score,
  type SearchMode,
  Trajectory,
  type VerifyOptions,
  verifyStore,
} from '#runtime';
export { openStore, type Store, StoreError, type StoreOptions } from '#stores';
