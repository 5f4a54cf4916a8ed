/**
 * `assize`: agents propose, a kernel decides, one hash-chained ledger records it all.
 *
 * The entry that most programs need. Tools, memory, agents, stores, audits and tests have entries
 * of their own: `assize/effects`, `assize/memory`, `assize/agents`, `assize/stores`,
 * `assize/audit`, `assize/testing` and `assize/tools/…`. docs/reference/api.md lists all names.
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
  type ActionCall,
  type ApplyContext,
  call,
  count,
  type Domain,
  defineDomain,
  type Erased,
  each,
  eachCall,
  escalate,
  type InvariantResult,
  invariant,
  isErased,
  type ProposedCall,
  pass,
  reject,
  sensitive,
  sum,
  unique,
} from '#kernel';
export type { Entry, EntryRow, Hash, Instant, LedgerStore, PendingPayload } from '#ledger';
export {
  type Clock,
  createOracle,
  fixedClock,
  type Oracle,
  type Pause,
  type Random,
  seededRandom,
  systemClock,
  systemRandom,
} from '#oracle';
export {
  type ApprovalInput,
  type ApprovalOptions,
  type Approvals,
  Assize,
  type AssizeOptions,
  type AwaitOptions,
  type BranchOptions,
  type CreateOptions,
  type DelegationInput,
  type Delegations,
  type EffectOptions,
  type ErasureInput,
  type ErasurePreview,
  type ErasureRuling,
  type FinalRuling,
  type MemoryRuntimeOptions,
  type OpenPending,
  type PendingNotification,
  type PendingQuery,
  type PendingStatus,
  type Proposal,
  type ProposalInput,
  type RejectionInput,
  type Resolution,
  type ResolvedNotification,
  type Revocation,
  type RevocationInput,
  type Ruling,
  type RuntimePorts,
  Trajectory,
  type TrajectoryWrits,
  type Transaction,
  type TransactionOptions,
  type TransactionOutcome,
  type Upgrade,
  type UpgradeOptions,
  verifyStore,
} from '#runtime';
export { openStore, type Store, type StoreOptions } from '#stores';
